//! What the benches share: variants of one job timed in turn, so that their ratios mean something on a noisy machine.

use std::time::Duration;

/// One way of doing the job; gives the time that one repetition took, per unit of work.
pub type Variant<'a> = (&'a str, Box<dyn FnMut() -> Duration + 'a>);

/// Times of one variant over all rounds.
#[derive(Clone, Debug)]
pub struct Times {
    /// Name of the variant.
    pub name: String,
    /// Nanoseconds per unit, one for each round, in order of the rounds.
    pub rounds: Vec<f64>,
}

impl Times {
    /// Median over the rounds, in nanoseconds.
    pub fn median(&self) -> f64 {
        median(&self.rounds)
    }

    /// The fastest round, in nanoseconds: what it costs when nothing gets in between. On a machine that does other work the
    /// median says more about that work.
    pub fn least(&self) -> f64 {
        self.rounds.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Median over the rounds of the ratio to `other` in the same round.
    pub fn ratio_to(&self, other: &Times) -> f64 {
        let ratios: Vec<_> = self
            .rounds
            .iter()
            .zip(&other.rounds)
            .map(|(a, b)| a / b)
            .collect();
        median(&ratios)
    }
}

/// Runs all variants in turn, `rounds` times over, after two rounds of warm-up.
pub fn compare(variants: &mut [Variant<'_>], rounds: usize, units: u32) -> Vec<Times> {
    let mut times: Vec<_> = variants
        .iter()
        .map(|(name, _)| Times {
            name: (*name).to_owned(),
            rounds: Vec::new(),
        })
        .collect();
    for round in 0..rounds + 2 {
        for ((_, run), times) in variants.iter_mut().zip(&mut times) {
            let nanoseconds = run().as_secs_f64() * 1e9 / f64::from(units);
            if round >= 2 {
                times.rounds.push(nanoseconds);
            }
        }
    }
    times
}

/// Prints a table of medians and of the fastest rounds, each with the ratio to the variant at `base` and the difference.
pub fn print(title: &str, times: &[Times], base: usize) {
    println!("\n{title}");
    println!(
        "  {:<44} {:>10} {:>8} {:>10} {:>10} {:>8} {:>10}",
        "variant", "ns", "ratio", "ns over", "least ns", "ratio", "ns over"
    );
    for variant in times {
        println!(
            "  {:<44} {:>10.1} {:>8.3} {:>10.1} {:>10.1} {:>8.3} {:>10.1}",
            variant.name,
            variant.median(),
            variant.ratio_to(&times[base]),
            variant.median() - times[base].median(),
            variant.least(),
            variant.least() / times[base].least(),
            variant.least() - times[base].least(),
        );
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
