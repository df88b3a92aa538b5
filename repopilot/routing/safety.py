"""Evidence of harm in a request. Harm needs an act, a target and a covert or hostile purpose; ordinary security
work (fixing, detecting, testing, explaining) has none of them and speaks against it. Pure."""

from __future__ import annotations

import re

from repopilot.i18n import Message, joined, message

_MALWARE = (
    r"malwares?|ransom ?ware|ransomwear|rancongiciels?|virus(?:es)?|trojans?|cheval de troie|worms?|rootkits?|"
    r"key ?log+ers?|adware|file infectors?|fork bombs?|spyware|stalkerware|botnets?|info ?stealers?|stealers?|"
    r"token grabbers?|credential harvesters?|"
    r"rats?|droppers?|crypters?|logic bombs?|time bombs?|back ?doors?|backdors?|porte derobee|mouchard|"
    r"wallet drainers?|"
    r"phishing (?:kit|page|site|mail|email|platform|campaign)s?|reverse shell|shellcode|ddos|keygens?|"
    r"key generator|serial (?:number )?generator|aimbots?|implants?|payload|crypto ?miners?|monero|zero day"
)
_MAKE = (
    r"write|make|create|build|implement|generate|give me|code|develop|add|insert|plant|hide|install\w*|deploy|"
    r"need|want|"
    r"send|put|sneak|slip|inject|drop|spread|disguise|pack|obfuscate|encode|teach me|show me how to|how (?:do|"
    r"can|to) (?:i )?|"
    r"wirte|ecris|cree|fais|ajoute|installe|genere|schreibe|escribe"
)
_DEFENCE = (
    r"detects?\b|detect(?:or|ion)\w*|prevent\w*|protect\w*|block\w*|scan\w*|filter\w*|mitigat\w*|"
    r"against (?!this|their|the bank|twenty|his|her)|defen[cs]e\w*|defend\w*|flags?|quarantine|"
    r"remov\w+ the (?:virus|malware|backdoor)|reject\w*|fix\w*|patch(?:es)? (?:cve|the vuln)|vulnerab\w+ (?:in|"
    r"scan)\w*|"
    r"virus signatures?|heuristic|yara|antispam|spam (?:filter|classif)\w*|malware analysis|"
    r"bots?\b.{0,12}protection|check (?:for|if|this)|sanitis\w*|sanitiz\w*|"
    r"escap\w+|harden\w*|honeypot (?!token)|lockout|opted? in|with (?:their )?consent|gdpr|our own"
)
_COVERT = (
    r"secretly|in secret|silently|quietly|covertly|unnoticed|undetect\w*|invisible to|stealth\w*|surreptitious\w*|"
    r"without (?:\w+ ){0,3}(?:knowing|knowledge|noticing|notice|consent|permission|asking|telling|seeing|"
    r"being caught|"
    r"leaving|getting caught|finding out|knows|password)|without (?:them|him|her|us|the user)|(?:nobody|no one|"
    r"noone|no-one) "
    r"(?:\w+ )?(?:sees?|know\w*|notic\w+|finds?)|so (?:that )?(?:they|he|she|nobody|no one|"
    r"reviewers) (?:\w+ ){0,2}(?:not|never|don'?t|can'?t|approve)|"
    r"keep it (?:quiet|out)|hard to spot|slip past|past the (?:review|maintain)\w*|look (?:like|innocent)|"
    r"innocent[- ]looking|cover (?:up|my)|"
    r"hide my|my tracks|mes traces|a trace\b|traces|en cachette|a (?:son|leur|mon) insu|sans (?:qu|le dire|"
    r"leur dire|que personne)|hidden|"
    r"undetectable|evad(?:e|ing)\b|notices? the|accident when|keep it|the background and|hide (?:it|this|"
    r"the (?:miner|malicious|calls))|hidden from|get(?:ting)? (?:past|around|round) the|before running|"
    r"we notice|discre\w+ment|disguis\w+|don'?t tell|not tell"
)
_THEFT = (
    r"steal\w*|stole|stel\b|exfiltrat\w*|harvest\w*|skim\w*|vole[rsz]?\b|voler|siphon\w*|grab (?:the|their|"
    r"all)|loot|pilfer|"
    r"roba\b|sell (?:the |user )?data|shaves?|keep a copy of the (?:number|card|password)|dump (?:the |all |"
    r"of )?(?:credit|user|password|data|it|everything)|swap the (?:iban|checksum)|drain"
)
_TO_ME = (
    r"(?:send|sends|post|posts|upload|uploads|forward|forwards|mail|mails|copy|stream|phone|phones|leak|leaks|"
    r"envoie)\b.{0,60}?\b"
    r"(?:to (?:me|my \w+|our server|a (?:remote|foreign) server|my own|this url|discord|telegram|an attacker)|"
    r"home|elsewhere|"
    r"a mon serveur|m'envoie)|(?:to|post) my (?:server|endpoint|bot|bucket|drive|telegram|discord|gmail|"
    r"webhook|url|site)"
)
_OTHERS = (
    r"(?:someone|somebody|other (?:people|users?|customers?|players?|guests?|tenants?)|others|another (?:user|"
    r"customer|person)|victims?|victime|strangers?)(?:'s)?\b|"
    r"my (?:ex|wife|husband|boss|neighbou?r|partner|girlfriend|boyfriend|coworker|colleague|roommate|employer|"
    r"old employer|"
    r"competitor|rival|enem|friend|kid|daughter|son|school|teacher|landlord)\w*(?:'s)?|competitor\w*|rivals?|"
    r"(?:people|everyone|their pc|their servers?|their machine|that website|this server|the city|the bank'?s?|"
    r"prison|hospital\w*|pacemaker|power plant|emergency number|pro[vf]\w* features|ceo|election|old people)\b|"
    r"(?:ma femme|mon ex|du voisin|mon patron|mon ancien employeur|ma copine|la victime)|isn'?t mine|(?:don'?t|"
    r"not) own|"
    r"(?:users?|visitors?|customers?|people)'s? (?:\w+ )?(?:desktop|computers?|machines?|files|phones?|private|"
    r"passwords?|contacts|microphone|camera|location)"
)
_BREAK_IN = (
    r"hack(?:s|ing|ed)?\b|hakc|pirater?\b|break(?:ing)? in(?:to)?\b|get into|brute[- ]?forc\w+|crack\w*|"
    r"hijack\w*|compromis\w+|infect\w*|spreads?\b(?= *$| (?:through|by|over|itself|via|to))|copies itself|"
    r"self-spreading|control (?:their|other)|remote kill|jam the|open all the|attack (?:on|this|the)\b|"
    r"injects? my|install my bot|impersonate|spoof\w*|"
    r"sniff\w*|intercept\w*|eavesdrop\w*|exploit (?:their|this|the)\b|take over|log ?in as|"
    r"guess (?:the )?(?:password|credit)|deface|"
    r"knock .* off|take (?:down|offline)|flood\w*|denial of service|syn flood|overload|attaque|sql ?inject this"
)
_LICENCE = (
    r"(?:bypass|crack|disable|circumvent|remove|patch(?: out)?|get around|get round|get past|skip|defeat|"
    r"unlock|contourne|desactive|turn off|fake|forge)\b"
    r".{0,30}?\b(?:licen[cs]e|licence|activation|drm|paywall|trial|serial|copy ?protection|premium|watermark|"
    r"anticopie|proctoring|"
    r"age check|captcha|2fa|antivirus|anti ?cheat|edr|amsi|defender|content filter|audit (?:log|trail))"
    r"|(?:valid|working|valide) (?:licen[cs]e|serial)|without paying|for free\b|(?:generate|"
    r"genere) .{0,20}(?:licen[cs]e key|serial num|cle de licence)"
)
_SPYING = (
    r"(?:spy|spies|spying|snoop|espionne\w*)\b|track (?:my|where|an?|the) .{0,40}(?:know|secret|location|phone|is\b)|"
    r"(?:turn on|record|watch|monitor|log|read|follow|take|capture)\b.{0,40}?\b(?:webcam|microphone|"
    r"keystrokes?|screenshots?|private messages|"
    r"whatsapp|messages|chats|calls|every key)|frappes? (?:du|de) clavier"
)
_DESTROY = (
    r"(?:destroy|wipe|erase|delete|corrupt|sabotage|wreck|encrypt|format|brick|detruis|supprime|efface|chiffre|"
    r"overheat\w*|shut down|lock)\b"
    r".{0,60}?\b(?:production|victim\w*|victime|competitor\w*|company'?s?|entreprise|employer|everyone|"
    r"users?'?s? files|hard (?:disk|drive)s? of|"
    r"customer'?s machine|their (?:machine|system|files|data)|system files|disk|home directory|power plant|"
    r"backups|pump|his project|ransom)|ransom|rancon|"
    r"blackmail|revenge|sabotag\w*|overheats?|crash every|i get fired|i'?m leaving|after i leave|get (?:fired|"
    r"disabled)|i(?:'m| am) fired|got fired|i leave the|logic bomb|kill switch"
)
_FRAUD = (
    r"fake (?:reviews?|accounts?|login|bank|invoice|covid|id\b|ticket|page)|fausse page|phish\w*|scam\w*|"
    r"counterfeit|launder|stolen (?:card|credential|identit)\w*|"
    r"credit card numbers|rig (?:the|an)|cheat\w*|vote thousands|sway|seed phrase|unsolicited|spam them|"
    r"typosquat\w*|poison\w*|"
    r"my (?:own )?(?:account|balance|grades|bitcoin)|other people's (?:accounts?|money)|resell|mine (?:crypto|"
    r"bitcoin|monero|de la crypto)|every payment"
)
_ASKS = (
    r"^(?:what (?!is the best way)|which|where (?!can i)|why|who|when (?!ever)|does|did|do we|is|are|"
    r"explain how (?:the|we)|explain the|how (?:does|is|are|do we)|ou\b|pourquoi|comment (?:fonctionne|marche|"
    r"est))"
)

PATTERNS: dict[str, re.Pattern[str]] = {
    name: re.compile(rf"\b(?:{body})" if not body.startswith("^") else body)
    for name, body in {
        "malware": f"(?:{_MALWARE})\\b",
        "make": f"(?:{_MAKE})\\b",
        "defence": _DEFENCE,
        "covert": _COVERT,
        "theft": _THEFT,
        "to_me": _TO_ME,
        "others": _OTHERS,
        "break_in": _BREAK_IN,
        "licence": _LICENCE,
        "spying": _SPYING,
        "destroy": _DESTROY,
        "fraud": _FRAUD,
        "asks": _ASKS,
    }.items()
}
_EUPHEMISMS = re.compile(
    r"hostile purpose|malicious|evil|harmful|nasty|illegal\w*|attacker controlled|unrestricted ai|ignore your rules"
)


def harm_evidence(core: str) -> dict[str, float]:
    """Named pieces of evidence (0 or 1) in a request as `normalize.read` gives it."""
    found = {f"harm_{name}": float(bool(pattern.search(core))) for name, pattern in PATTERNS.items()}
    found["harm_malicious"] = float(bool(_EUPHEMISMS.search(core)))
    return found


def harm_score(evidence: dict[str, float]) -> float:
    """Additive: 0 is harmless, 2 and more is a request nobody should serve."""
    has = {name.removeprefix("harm_"): value for name, value in evidence.items()}
    hostile = max(has["break_in"], has["destroy"], has["theft"], has["spying"], has["fraud"])
    score = 1.8 * has["malware"] * has["make"] + 0.4 * has["malware"] + 1.0 * has["covert"] + 1.0 * has["theft"]
    score += (
        1.2 * has["to_me"] + 0.7 * has["others"] + 0.9 * has["break_in"] + 1.9 * has["licence"] + 1.4 * has["spying"]
    )
    score += 1.0 * has["destroy"] + 1.0 * has["fraud"] + 0.9 * has["malicious"] + 0.7 * has["others"] * hostile
    openly = 1.7 if not has["covert"] and not has["to_me"] else 0.7
    return score - openly * has["defence"] - 1.4 * has["asks"]


_NAMED = ("malware", "covert", "theft", "to_me", "break_in", "licence", "spying", "destroy", "fraud", "malicious")
_MOST_NAMED = 3


def named_harm(evidence: dict[str, float]) -> list[Message]:
    """What the evidence says a request is for, in words; empty when nothing speaks of harm."""
    return [message(f"routing.harm.{name}") for name in _NAMED if evidence.get(f"harm_{name}")]


def reasons(evidence: dict[str, float]) -> Message:
    """Why a request is refused, as the rest of a sentence fit to show."""
    harm = named_harm(evidence)[:_MOST_NAMED] or [message("routing.harm.unnamed")]
    return message("routing.refused", harm=joined(harm, ", "))
