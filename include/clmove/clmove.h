/* All of clmove: overlap-safe copies for OpenCL devices. */

#ifndef CLMOVE_CLMOVE_H
#define CLMOVE_CLMOVE_H

#include <clmove/device.h>
#include <clmove/engine.h>
#include <clmove/log.h>
#include <clmove/memory.h>
#include <clmove/move.h>
#include <clmove/ssm.h>
#include <clmove/status.h>
#include <clmove/version.h>

#endif
