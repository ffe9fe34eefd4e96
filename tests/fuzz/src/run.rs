//! The loop: takes inputs from the corpus and from mutation, gives each to a target, and keeps what breaks one.

use std::{
    env, fs,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use fastrand::Rng;
use peak_alloc::PeakAlloc;

use crate::mutation;

/// Counts what the process holds.
#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Held by what is being tried.
static TURN: Mutex<()> = Mutex::new(());

/// Inputs of a test run.
const INPUTS: u64 = 10_000;

/// What a decoder may take besides what grows with its input.
const MEMORY_BYTES: usize = 1 << 20;
/// What it may take for each byte of its input: an object of a few bytes takes most of a kilobyte.
const MEMORY_PER_BYTE: usize = 512;

/// A decoder, and where its corpus lies.
pub struct Target {
    /// The folder of its corpus.
    pub name: &'static str,
    /// Texts that mean something to it; they are put in where they may hurt.
    pub tokens: &'static [&'static [u8]],
    /// Gives it an input; panics where it breaks its word.
    pub check: fn(&[u8]),
}

/// Gives a target the whole corpus, and then `FUZZ_INPUTS` mutations of it, or ten thousand. `FUZZ_SEED` chooses which;
/// without it a test run has the same ones each time.
///
/// # Panics
/// Where the target does, after the input was added to the corpus.
pub fn fuzz(target: &Target) {
    let _alone = alone();
    let corpus = corpus(target);
    assert!(!corpus.is_empty(), "{} has no corpus", target.name);
    for (name, input) in &corpus {
        attempt(target, input).unwrap_or_else(|why| panic!("{name}: {why}"));
    }
    let inputs = number("FUZZ_INPUTS").unwrap_or(INPUTS);
    let seed = number("FUZZ_SEED").unwrap_or(0);
    let begun = Instant::now();
    let inputs_of_corpus: Vec<_> = corpus.into_iter().map(|(_, input)| input).collect();
    for index in 0..inputs {
        // Each by a seed of its own, so that one that breaks the target can be made again alone.
        let mut rng = Rng::with_seed(seed.rotate_left(32) ^ index);
        let input = mutation::input(&mut rng, &inputs_of_corpus, target.tokens);
        if let Err(why) = attempt(target, &input) {
            let kept = keep(target, &input);
            panic!("input {index} of seed {seed}, kept as {}: {why}", kept.display());
        }
    }
    eprintln!(
        "{}: {inputs} inputs in {:.1} s",
        target.name,
        begun.elapsed().as_secs_f64()
    );
}

/// Lets nothing else of this process be tried while the answer is held: memory is counted for the process.
pub fn alone() -> impl Drop {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Measures what one run of `work` holds at most, in bytes, over what is held before it.
pub fn most_held(work: impl FnOnce()) -> usize {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    work();
    MEMORY.peak_usage().saturating_sub(before)
}

fn attempt(target: &Target, input: &[u8]) -> Result<(), String> {
    let mut ended = Ok(());
    let held = most_held(|| {
        ended = panic::catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    });
    ended.map_err(|_| "it panicked, as told above".to_owned())?;
    let most = MEMORY_BYTES + MEMORY_PER_BYTE * input.len();
    if held > most {
        return Err(format!(
            "{} bytes of input held {held} bytes of memory, more than {most}",
            input.len()
        ));
    }
    Ok(())
}

fn corpus(target: &Target) -> Vec<(String, Vec<u8>)> {
    let folder = folder(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    // Folders are read in no order, and the same seed has to mean the same inputs.
    files.sort();
    let read = |path: PathBuf| (path.display().to_string(), fs::read(path).unwrap());
    files.into_iter().map(read).collect()
}

fn folder(target: &Target) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target.name)
}

/// Adds an input to the corpus, so that it is tried first from now on.
fn keep(target: &Target, input: &[u8]) -> PathBuf {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = folder(target).join(format!("found-{hash:016x}"));
    fs::write(&path, input).unwrap();
    path
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{variable} must be a number, not {text:?}")),
    )
}
