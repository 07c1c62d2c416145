# Makes CMake compile several sources of HiGHS as one file, which takes two thirds of the processor time.
# scripts/build.sh names this file in CMAKE_TOOLCHAIN_FILE, because the crate highs-sys has no option for it.
set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile several source files as one")
# With more files in a batch, the last batch keeps one processor busy alone and needs more than 1 GiB of memory.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8 CACHE STRING "Source files that are compiled as one")
