"""Compiler flags; those of CMakeLists.txt."""

COPTS = [
    "-std=c++17",
    # g++ contracts a * b + c under -mfma, which changes results.
    "-ffp-contract=off",
]

# Further flags of core/*_<key>.cc, which are compiled for x86-64 only.
INSTRUCTION_SETS = {
    "avx2": ["-mavx2", "-mfma", "-mf16c"],
    "avx512vnni": [
        "-mavx512f",
        "-mavx512bw",
        "-mavx512dq",
        "-mavx512vl",
        "-mavx512vnni",
        "-mfma",
        "-mf16c",
    ],
}
