//! What the command line asks for.

/// How to call the program.
pub const USAGE: &str = "usage: evenhand-check CERTIFICATE [--problem PROBLEM] [--allocation ALLOCATION] \
[--require AXIOM[:PARAMETER]]... [--max-tolerance T] [--sharing rdm|tdm] [--format table|json]";

/// What `--help` prints below the usage.
pub const HELP: &str = "Verifies a fairness, ratio or worst-load certificate with rational arithmetic alone.

  CERTIFICATE              the file to check; - reads standard input
  --problem PROBLEM        refuse a certificate that is not about this problem
  --allocation ALLOCATION  refuse a certificate that is not about this allocation
  --require AXIOM[:PARAMETER]
                           refuse a certificate that does not claim it to hold; may be given several
                           times; max-min and proportional need their parameter, as in max-min:drfh
  --max-tolerance T        refuse a larger tolerance (default: 1e-6)
  --sharing rdm|tdm        refuse another way of sharing servers (default: resources are divided; time is
                           shared only where the problem itself states times)
  --format table|json      how to say it (default: table)
  -h, --help               this text
  -V, --version            the version

Exit status: 0 valid, whatever it claims; 1 false, or not what is asked for; 2 usage or unreadable; 3 too
large to be checked, or the output cannot be written.";

/// What was asked for.
#[derive(Debug, Default)]
pub struct Arguments {
    pub certificate: String,
    pub problem: Option<String>,
    pub allocation: Option<String>,
    pub require: Vec<String>,
    pub max_tolerance: Option<String>,
    pub sharing: Option<String>,
    pub json: bool,
}

impl Arguments {
    /// # Errors
    /// What is wrong with the command line, in words.
    pub fn parse(arguments: Vec<String>) -> Result<Self, String> {
        let mut found = Self::default();
        let mut certificate = None;
        let mut format = None;
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value.to_owned())),
                _ => (argument, None),
            };
            let place = match name.as_str() {
                "--problem" => &mut found.problem,
                "--allocation" => &mut found.allocation,
                "--max-tolerance" => &mut found.max_tolerance,
                "--sharing" => &mut found.sharing,
                "--format" => &mut format,
                "--require" => {
                    found.require.push(needed(&name, value, &mut arguments)?);
                    continue;
                }
                other if other.starts_with('-') && other != "-" => {
                    return Err(format!("unknown option `{other}`; {USAGE}"));
                }
                _ => {
                    if certificate.replace(name.clone()).is_some() {
                        return Err(format!("`{name}` is one too many; {USAGE}"));
                    }
                    continue;
                }
            };
            if place.replace(needed(&name, value, &mut arguments)?).is_some() {
                return Err(format!("`{name}` is one too many; {USAGE}"));
            }
        }
        found.certificate = certificate.ok_or_else(|| format!("no certificate is named; {USAGE}"))?;
        found.json = match format.as_deref() {
            Some("json") => true,
            None | Some("table") => false,
            Some(other) => return Err(format!("there is no format `{other}`: expected table or json")),
        };
        if let Some(other) = found.sharing.as_deref().filter(|name| !["rdm", "tdm"].contains(name)) {
            return Err(format!("--sharing: there is no `{other}`: expected rdm or tdm"));
        }
        let inputs = std::iter::once(&found.certificate).chain(&found.problem).chain(&found.allocation);
        if inputs.filter(|path| *path == "-").count() > 1 {
            return Err("only one file can be standard input (-)".to_owned());
        }
        Ok(found)
    }

    /// Whether something is asked that only certificates of allocations can answer.
    pub fn is_about_allocations(&self) -> bool {
        let asked = [&self.allocation, &self.max_tolerance, &self.sharing];
        !self.require.is_empty() || asked.into_iter().any(Option::is_some)
    }
}

fn needed(
    name: &str,
    value: Option<String>,
    rest: &mut impl Iterator<Item = String>,
) -> Result<String, String> {
    value.or_else(|| rest.next()).ok_or_else(|| format!("{name} needs a value; {USAGE}"))
}
