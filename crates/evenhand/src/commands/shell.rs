//! `completions` and `man`: what the arguments say of themselves, for shells and for the manual.

use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory};
use clap_mangen::Man as Page;

use crate::arguments::{Arguments, Completions, Man};
use crate::failure::Failure;
use crate::{files, output};

pub fn completions(call: &Completions) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(call.shell, &mut Arguments::command(), "evenhand", &mut script);
    output::text(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

pub fn man(call: &Man) -> Result<ExitCode, Failure> {
    let mut program = Arguments::command();
    program.build();
    match &call.output {
        None => output::text(&page(&program)?)?,
        Some(folder) => write(&program, folder)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// `evenhand.1`, and a page for every command: `evenhand-solve.1`.
fn write(program: &Command, folder: &Path) -> Result<(), Failure> {
    let commands = program.get_subcommands().filter(|command| command.get_name() != "help");
    for command in std::iter::once(program).chain(commands) {
        // Built commands are called `evenhand-solve` here, and `evenhand solve` in the text.
        let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
        files::save_in(folder, &format!("{name}.1"), page(command)?)?;
    }
    Ok(())
}

fn page(command: &Command) -> Result<String, Failure> {
    let mut roff = Vec::new();
    Page::new(command.clone()).render(&mut roff).map_err(Failure::solver)?;
    Ok(String::from_utf8_lossy(&roff).into_owned())
}
