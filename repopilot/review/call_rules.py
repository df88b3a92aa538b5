"""Calls and assignments that are dangerous or wasteful in languages other than Python: a table, read by `generic`. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from repopilot.types import Severity

_JS = frozenset({"javascript", "typescript", "tsx"})
_C = frozenset({"c", "cpp"})
_ANY: frozenset[str] = frozenset()

# Values that come from outside, as they are written in web code of these languages.
OUTSIDE = (
    r"\b(?:req|request|ctx\.request|ctx)\.(?:query|body|params|headers|cookies|param\w*)\b|\$_(?:GET|POST|REQUEST|COOKIE|FILES)\b|"
    r"\bparams\[|\br\.(?:URL\.Query\(\)|FormValue|PostFormValue|Form)\b|\bc\.(?:Query|Param|PostForm)\(|"
    r"\brequest\.getParameter\(|\bRequest\.(?:Query|Form|Params)\b"
)
_BUILT = r"(?:\+\s*\w|\w\s*\+|\$\{|\#\{|\.\s*\$|\"\s*\.\s*\$|\$\w|%[sv]|\\\()"


@dataclass(frozen=True, slots=True)
class CallRule:
    """A call whose callee matches `callee` and whose arguments match `arguments` ('' matches all), in `languages`
    (empty: all). `in_loop`: only inside a loop."""

    rule: str
    domain: str
    severity: Severity
    message: str
    callee: re.Pattern[str]
    arguments: re.Pattern[str]
    languages: frozenset[str]
    in_loop: bool = False


def _rule(rule: str, domain: str, severity: Severity, callee: str, arguments: str, message: str,
          languages: frozenset[str] = _ANY, in_loop: bool = False) -> CallRule:  # fmt: skip
    return CallRule(
        rule, domain, severity, message, re.compile(callee), re.compile(arguments, re.DOTALL), languages, in_loop
    )


def _security(
    rule: str, severity: Severity, callee: str, arguments: str, message: str, languages: frozenset[str] = _ANY
) -> CallRule:
    return _rule(rule, "security", severity, callee, arguments, message, languages)


def _loop(
    rule: str, severity: Severity, callee: str, arguments: str, message: str, languages: frozenset[str] = _ANY
) -> CallRule:
    return _rule(rule, "performance", severity, callee, arguments, message, languages, True)


CALLS = (
    _security("code-injection", "critical", r"^(eval|new Function|Function|assert|instance_eval|class_eval|create_function)$",
              OUTSIDE, "Text from outside is run as code."),
    _security("eval", "high", r"^(eval|new Function|window\.eval|global\.eval)$", r"[A-Za-z_$]\w*(?!.*^\(\s*['\"][^'\"]*['\"]\s*\)$)",
              "Text is run as code.", _JS | {"php", "ruby"}),
    _security("shell-injection", "critical", r"(^|\.|::)(exec|execSync|system|shell_exec|passthru|popen|spawn|spawnSync|Command|backtick)$",
              OUTSIDE, "Text from outside reaches a command."),
    _security("shell-injection", "high", r"^((\w*child_process|cp)\.)?(exec|execSync)$", _BUILT,
              "A command line is put together from pieces; use execFile with a list of arguments.", _JS),
    _security("shell-injection", "high", r"(^|\.)exec\.Command(Context)?$", r"\"(sh|bash|cmd)\"\s*,\s*\"(-c|/c)\"\s*,\s*(?!\"[^\"]*\"\s*\))",
              "A shell runs a command line that is not constant.", frozenset({"go"})),
    _security("shell-injection", "high", r"(getRuntime\(\)\.exec|ProcessBuilder|Process\.Start)$", _BUILT,
              "A command line is put together from pieces.", frozenset({"java", "kotlin", "scala", "csharp"})),
    _security("shell-injection", "high", r"^(system|popen|exec[lv]p?)$", r"^\(\s*[A-Za-z_]", "The command is not constant.", _C),
    _security("shell-injection", "high", r"^(system|exec|spawn|shell_exec|passthru|popen|proc_open)$", r"#\{|\$\w",
              "A command line is put together from pieces.", frozenset({"ruby", "php"})),
    _security("unsafe-deserialisation", "high",
              r"(^|\.)(readObject|unserialize|Marshal\.load|YAML\.load|YAML\.unsafe_load|node_serialize\.unserialize|Deserialize)$",
              OUTSIDE + r"|^\(\s*\)$", "Objects are built from bytes that may come from outside.",
              frozenset({"java", "php", "ruby", "javascript", "typescript"})),
    _security("unsafe-deserialisation", "high", r"(^|\.)(Marshal\.load|unserialize)$", r"[\w$]", "Unpickled data can run code.",
              frozenset({"ruby", "php"})),
    _security("weak-hash", "medium", r"createHash$|MessageDigest\.getInstance$", r"(?i)['\"](md5|sha-?1)['\"]",
              "MD5 and SHA-1 are broken.", _JS | {"java", "kotlin", "scala"}),
    _security("weak-hash", "medium", r"^(md5|sha1)\.(New|Sum)$|^(MD5|SHA1)\.(Create|HashData)$|^Digest::(MD5|SHA1)\.\w+$", "",
              "MD5 and SHA-1 are broken.", frozenset({"go", "csharp", "ruby"})),
    _security("fast-password-hash", "high", r"^(md5|sha1|hash)$", r"(?i)passw", "A password is hashed by a fast function.",
              frozenset({"php"})),
    _security("weak-cipher", "high", r"Cipher\.getInstance$|createCipher(iv)?$", r"(?i)['\"](des|rc4|[\w-]*ecb|[^'\"]*/ECB/[^'\"]*)['\"]",
              "This cipher is broken."),
    _security("weak-cipher", "medium", r"(^|\.)(createCipher|createDecipher|des\.NewCipher|rc4\.NewCipher)$", "", "This cipher is broken.",
              _JS | {"go"}),
    _security("path-traversal", "high",
              r"(readFile|readFileSync|createReadStream|writeFile|writeFileSync|unlink|unlinkSync|sendFile|ReadFile|os\.Open|"
              r"os\.ReadFile|os\.Create|filepath\.Join|path\.join|path\.resolve|file_get_contents|fopen|include|require|File\.open|"
              r"File\.read|send_file|new File|FileInputStream|Paths\.get|Path\.Combine|readfile)$",
              OUTSIDE, "A path from outside reaches the file system: `../` leads out of the folder."),
    _security("ssrf", "high", r"^(fetch|axios(\.\w+)?|got(\.\w+)?|http\.Get|http\.Post|request|needle|curl_init|Net::HTTP\.get|URI\.open)$",
              OUTSIDE, "An address from outside is fetched by the server, internal ones included."),
    _security("open-redirect", "medium", r"(redirect|redirect_to|http\.Redirect|sendRedirect|Redirect|header)$", OUTSIDE,
              "A redirect goes to an address from outside."),
    _security("cross-site-scripting", "high", r"(^|\.)(send|write|end|html|Fprintf|Fprint|document\.write|raw|html_safe|HTML)$", OUTSIDE,
              "Text from outside is written into the page as it is."),
    _security("cross-site-scripting", "medium", r"^(document\.write|document\.writeln|template\.HTML|\w+\.insertAdjacentHTML)$",
              r"^\(\s*[A-Za-z_$]|\+|\$\{", "Text becomes HTML unescaped.", _JS | {"go"}),
    _security("unverified-token", "high", r"(^|\.)jwt\.(verify|decode)$", r"(?i)['\"]none['\"]|ParseUnverified",
              "The signature of the token is not verified."),
    _security("unverified-token", "high", r"\.ParseUnverified$", "", "The signature of the token is not verified.", frozenset({"go"})),
    _security("unsafe-buffer", "critical", r"^gets$", "", "gets writes beyond any buffer; use fgets.", _C),
    _security("unsafe-buffer", "medium", r"^(strcpy|strcat|sprintf|vsprintf|wcscpy|stpcpy)$", r",\s*(?!\s*\"[^\"%]*\"\s*\))",
              "Nothing bounds what is written; use the function with a length.", _C),
    _security("unsafe-buffer", "medium", r"^(scanf|fscanf|sscanf)$", r"%s", "%s without a width writes beyond any buffer.", _C),
    _security("format-string", "high", r"^(printf|syslog)$", r"^\(\s*[a-z_]\w*\s*\)$", "A variable is used as the format.", _C),
    _security("regex-injection", "low", r"^(new RegExp|RegExp|regexp\.(Must)?Compile|Regexp\.new)$", OUTSIDE,
              "A pattern from outside can take for ever (ReDoS)."),
    _security("secret-logged", "medium", r"^(console\.\w+|log(ger)?\.\w+|fmt\.Print\w*|System\.out\.print\w*|Log\.\w)$",
              r"(?i)[.,(+{]\s*(\w+\.)*(password|passwd|secret_?key|api_?key|access_?token|private_?key)\s*[,)+}]",
              "A secret is written to the log."),
    _loop("query-in-loop", "medium",
          r"(^|\.)(query|execute|executeQuery|executeUpdate|findOne|findById|findByPk|findUnique|findFirst|QueryRow|QueryRowContext|"
          r"QueryContext|Query|Exec|ExecContext|find_by|prepareStatement|getOne|FirstOrDefaultAsync|SaveChanges|SaveChangesAsync|fetchOne)$",
          "", "The database is asked once for every turn of the loop (N+1); ask once before it."),
    _loop("repeated-work", "medium", r"^(regexp\.(MustCompile|Compile)|Pattern\.compile|Regex::new|new Regex|new RegExp)$",
          r"^\(\s*[rR@]?['\"`#]", "The same pattern is compiled in every turn of the loop.",),
    _loop("repeated-work", "low", r"^JSON\.parse$", r"JSON\.stringify", "A deep copy in every turn of the loop.", _JS),
    _loop("blocking-call", "medium", r"(readFileSync|writeFileSync|execSync|statSync|readdirSync)$", "",
          "Everything else waits for this in every turn of the loop.", _JS),
    _rule("stack-trace-printed", "style", "low", r"\.printStackTrace$", r"^\(\s*\)$", "The error is printed, not handled or logged.",
          frozenset({"java", "kotlin", "scala"})),
)  # fmt: skip

# Lines rather than calls: (rule, domain, severity, pattern, languages, message)
LINES: tuple[tuple[str, str, Severity, re.Pattern[str], frozenset[str], str], ...] = (
    ("tls-off", "security", "high", re.compile(
        r"rejectUnauthorized['\"]?\s*:\s*false|InsecureSkipVerify:\s*true|NODE_TLS_REJECT_UNAUTHORIZED['\"]?\]?\s*=\s*['\"]?0|"
        r"CURLOPT_SSL_VERIFYPEER,\s*(false|0)|VERIFY_NONE|danger_accept_invalid_certs\(true\)|"
        r"ServerCertificateCustomValidationCallback\s*=.*=>\s*true"), _ANY, "The certificate of the other side is not checked."),
    ("insecure-cookie", "security", "medium", re.compile(r"\b(httpOnly|HttpOnly|secure|Secure)\s*:\s*false\b"), _JS | {"go"},
     "A cookie is set without its protection."),
    ("cross-site-scripting", "security", "high", re.compile(r"\.(inner|outer)HTML\s*\+?=(?!=)\s*+(?!['\"][^'\"]*['\"]\s*;?\s*$)(?!`[^$`]*`)"),
     _JS, "Text becomes HTML unescaped."),
    ("cross-site-scripting", "security", "medium", re.compile(r"dangerouslySetInnerHTML"), _JS, "Text becomes HTML unescaped."),
    ("cross-site-scripting", "security", "high", re.compile(r"\b(echo|print)\b[^;]*\$_(GET|POST|REQUEST|COOKIE)(?!.*htmlspecialchars)"),
     frozenset({"php"}), "Text from outside is written into the page as it is."),
    ("path-traversal", "security", "critical", re.compile(r"\b(include|require)(_once)?\b[^;]*\$_(GET|POST|REQUEST|COOKIE)"),
     frozenset({"php"}), "A file named from outside is run."),
    ("weak-random", "security", "high", re.compile(
        r"(?i)(token|secret|passw|api_?key|otp|nonce|session_?id|csrf|salt)\w*\b[^=;]{0,40}=[^=].{0,60}"
        r"(Math\.random\(|\brand\.(Int|Intn|Read|Int63)\(|new Random\(|\bmt_rand\(|\brand\()"), _ANY,
     "A secret value comes from a random generator that can be predicted."),
    ("debugger-left", "style", "medium", re.compile(r"^\s*(debugger;?|binding\.pry|byebug)\s*$"), _JS | {"ruby"}, "A breakpoint is left."),
    ("nan-comparison", "style", "medium", re.compile(r"[=!]==?\s*NaN\b|\bNaN\s*[=!]=="), _JS, "Nothing equals NaN; use Number.isNaN."),
    ("typeof-literal", "style", "medium", re.compile(
        r"typeof\s+[\w.]+\s*[=!]==?\s*['\"](?!(undefined|object|boolean|number|bigint|string|symbol|function)['\"])"), _JS,
     "typeof never gives this word."),
    ("unexplained-ignore", "style", "low", re.compile(r"//\s*@ts-(ignore|nocheck)\s*$"), _JS, "The type checker is silenced without a reason."),
)  # fmt: skip
