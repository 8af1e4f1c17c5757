# The sum of a column of numbers between 0 and 1, with Gaussian noise; one line for each of `runs` releases.
#
#   awk -v runs=250 -v seed=7 -v noise=1 -f noisy-sum.awk people.csv
#
# The generator is written out, so that every awk draws the same numbers. Noise that protects somebody needs a better one.

function uniform() {
    state = (16807 * state) % 2147483647
    return state / 2147483647
}

function normal() {
    return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform())
}

NR > 1 { sum += $1 < 0 ? 0 : ($1 > 1 ? 1 : $1) }

END {
    state = (1103515245 * (seed + 1) + 12345) % 2147483647
    for (run = 0; run < runs; run++) printf "%.6f\n", sum + noise * normal()
}
