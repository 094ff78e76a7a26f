//! Every instruction set against the portable twin.

use super::*;
use proptest::prelude::*;

/// A weight matrix with biases, of mixed scales: gentle, strong and out of range.
fn layers() -> impl Strategy<Value = (Array2<f64>, Array1<f64>, Array1<f64>)> {
    let scale = prop_oneof![Just(0.1), Just(3.0), Just(60.0), Just(500.0), Just(1e6)];
    (1usize..10, 1usize..40, scale, any::<bool>()).prop_flat_map(|(rows, columns, scale, one)| {
        let number = move || -scale..scale;
        (
            prop::collection::vec(number(), rows * columns),
            prop::collection::vec(number(), rows),
            prop::collection::vec(number(), columns),
        )
            .prop_map(move |(weights, row_bias, column_bias)| {
                let mut weights = Array2::from_shape_vec((rows, columns), weights).unwrap();
                if one {
                    // Only one column of this scale.
                    weights.slice_mut(s![.., 1..]).mapv_inplace(|w| w / scale);
                }
                (weights, row_bias.into(), column_bias.into())
            })
    })
}

fn sums(sum: &Enumeration) -> Vec<(u64, u64)> {
    let mut scratch = sum.scratch();
    (0..sum.jobs())
        .map(|job| sum.sum_of_job(job, &mut scratch))
        .map(|sum| (sum.mantissa.to_bits(), sum.exponent.to_bits()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_instruction_set_gives_the_same_bits((weights, row_bias, column_bias) in layers()) {
        let mut sum = Enumeration::new(weights.view(), row_bias.view(), column_bias.view());
        // As if jobs were small, so that these models have several.
        let above_leaf = sum.levels + sum.job_bits;
        (sum.levels, sum.job_bits) = (above_leaf / 2, above_leaf - above_leaf / 2);
        let mut found = Level::available().into_iter().map(|level| {
            sum.level = level;
            sums(&sum)
        });
        let portable = found.next().unwrap();
        for other in found {
            prop_assert_eq!(&other, &portable);
        }
    }

    #[test]
    fn the_split_into_jobs_changes_nothing_but_rounding(
        (weights, row_bias, column_bias) in layers()
    ) {
        let mut sum = Enumeration::new(weights.view(), row_bias.view(), column_bias.view());
        let above_leaf = sum.levels + sum.job_bits;
        let log_z: Vec<f64> = (0..=above_leaf).map(|levels| {
            (sum.levels, sum.job_bits) = (levels, above_leaf - levels);
            let (mut total, mut scratch) = (ScaledSum::default(), sum.scratch());
            (0..sum.jobs()).for_each(|job| total.add(sum.sum_of_job(job, &mut scratch)));
            total.total().ln()
        }).collect();
        for value in &log_z {
            prop_assert!((value - log_z[0]).abs() < 1e-13 * log_z[0].abs().max(1.0), "{:?}", log_z);
        }
    }
}
