/* Which symbols of the library are visible, and how they link from C++. */

#ifndef CLMOVE_EXPORT_H
#define CLMOVE_EXPORT_H

#if defined(__GNUC__)
#define CLMOVE_API __attribute__((visibility("default")))
#else
#define CLMOVE_API
#endif

#ifdef __cplusplus
#define CLMOVE_BEGIN_DECLS extern "C" {
#define CLMOVE_END_DECLS }
#else
#define CLMOVE_BEGIN_DECLS
#define CLMOVE_END_DECLS
#endif

#endif
