#!/usr/bin/env python3
"""Prints how many OpenCL devices the loader finds, before anything is built."""

import ctypes
import ctypes.util

CL_DEVICE_TYPE_ALL = ctypes.c_uint64(0xFFFFFFFF)


def main():
    try:
        loader = ctypes.CDLL(
            ctypes.util.find_library("OpenCL") or "libOpenCL.so.1")
    except OSError:
        return 0
    platform_count = ctypes.c_uint(0)
    loader.clGetPlatformIDs(0, None, ctypes.byref(platform_count))
    if platform_count.value == 0:
        return 0
    platforms = (ctypes.c_void_p * platform_count.value)()
    loader.clGetPlatformIDs(platform_count, platforms, None)
    total = 0
    for platform in platforms:
        # A platform without a device answers with an error and counts nothing.
        count = ctypes.c_uint(0)
        if loader.clGetDeviceIDs(ctypes.c_void_p(platform), CL_DEVICE_TYPE_ALL,
                                 0, None, ctypes.byref(count)) == 0:
            total += count.value
    return total


if __name__ == "__main__":
    print(main())
