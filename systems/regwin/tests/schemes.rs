//! What each scheme says of its own code is what the images have.

use regwin::image::{Program, Recipe};
use regwin::sim;
use regwin::{Allocate, Schedule, Scheme, Variant, work};

/// Variants that a scheme can be built in.
fn variants(scheme: Scheme) -> Vec<Variant> {
    let mut variants = vec![Variant::Plain, Variant::Checked, Variant::Preempt];
    variants.extend(
        (scheme != Scheme::Flat).then_some([Variant::Float, Variant::Fpu]).into_iter().flatten(),
    );
    variants.extend(
        (scheme == Scheme::Ns)
            .then_some([Variant::TwoATrap, Variant::FourATrap])
            .into_iter()
            .flatten(),
    );
    variants.extend(matches!(scheme, Scheme::Snp | Scheme::Sp).then_some(Variant::CopyAll));
    variants
}

/// A label that an image lacks is a panic here; a worst case that costs nothing was
/// priced without the image.
#[test]
fn every_image_has_the_blocks_that_its_costs_name() {
    let cores = work::cores();
    for scheme in Scheme::ALL {
        for allocate in Allocate::ALL.into_iter().filter(|found| found.fits(scheme)) {
            for variant in variants(scheme) {
                let recipe = Recipe {
                    allocate,
                    variant,
                    ..Recipe::new(Program::Scenario, scheme, Schedule::Fifo)
                };
                let (_, code) = work::image(&recipe).expect("the image is built");
                let costs = sim::costs(&recipe, &code, [&cores[0], &cores[1]]);
                assert!(costs.worst_switch(8, 0).0 > 40, "{recipe:?}");
            }
        }
    }
}
