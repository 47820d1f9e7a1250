"""Writes the texts that tokenizers are tested with: one JSON string a line.

    python tools/oracle/tokens_corpus.py FOLDER… > corpus.jsonl

Natural text in many scripts, code (cut from the source files in the folders),
runs of white space, emoji, combining marks, numbers, changes of case, controls
and random code points. The seed is fixed; the code differs with the folders.
"""
import glob
import json
import os
import random
import sys
import unicodedata

R = random.Random(20260917)

# Article 1 of the Universal Declaration of Human Rights, and sentences of our own.
NATURAL = """All human beings are born free and equal in dignity and rights. They are endowed with reason and conscience and should act towards one another in a spirit of brotherhood.
Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.
Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und sollen einander im Geiste der Brüderlichkeit begegnen.
Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente los unos con los otros.
Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de consciência, devem agir uns para com os outros em espírito de fraternidade.
Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e di coscienza e devono agire gli uni verso gli altri in spirito di fratellanza.
Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.
Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat v duchu bratrství.
Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek.
Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler. İstanbul'da ılık.
Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo hoá ban cho lý trí và lương tâm.
Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.
Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю; об'єкт, п'ять, з'їзд.
Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με λογική και συνείδηση.
כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחווה. שָׁלוֹם עֲלֵיכֶם
يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميرًا وعليهم أن يعامل بعضهم بعضًا بروح الإخاء. بِسْمِ اللَّهِ الرَّحْمَٰنِ ١٢٣٤٥
تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند. همه دارای عقل و وجدان هستند. ۱۲۳
تمام انسان آزاد اور حقوق و عزت کے اعتبار سے برابر پیدا ہوئے ہیں۔ انہیں ضمیر اور عقل ودیعت ہوئی ہے۔
सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें बुद्धि और अन्तरात्मा की देन प्राप्त है। १२३४
সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে। তাঁদের বিবেক এবং বুদ্ধি আছে।
மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; அவர்கள் மதிப்பிலும், உரிமைகளிலும் சமமானவர்கள்.
ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులును సమానులును నగుదురు.
ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿಯೇ ಜನಿಸಿದ್ದಾರೆ. ഘനതയിലും അവകാശങ്ങളിലും മനുഷ്യരെല്ലാം തുല്യരാണ്. සියලු මනුෂ්‍යයෝ නිදහස්ව උපත ලබා ඇත.
มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ ๑๒๓
ມະນຸດທຸກຄົນເກີດມາມີກຽດຕິສັກ. လူတိုင်းသည် တူညီလွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် မွေးဖွားလာသူများ ဖြစ်သည်။ មនុស្សទាំងអស់ កើតមកមានសេរីភាព។
ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით. ᲧᲕᲔᲚᲐ ᲐᲓᲐᲛᲘᲐᲜᲘ
Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։
የሰው ልጅ ሁሉ ሲወለድ ነጻና በክብርና በመብትም እኩልነት ያለው ነው። የተፈጥሮ ማስተዋልና ሕሊና ስላለው አንዱ ሌላውን በወንድማማችነት መንፈስ መመልከት ይገባዋል።
人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。第1条，2024年10月。
人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神互相對待。𠮷野家 㐀㐁 𠀀𠀁
すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。ｶﾀｶﾅ　ＡＢＣ１２３
모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다. 한글
Бүх хүн төрж мэндлэхэд эрх чөлөөтэй. འགྲོ་བ་མིའི་རིགས་རྒྱུད་ཡོངས་ལ་སྐྱེས་ཙམ་ཉིད་ནས་ཆེ་མཐོངས་དང༌། ᠬᠦᠮᠦᠨ ᠪᠦᠷ
ᏂᎦᏓ ᎠᏂᏴᏫ ᏂᎨᎫᏓᎸᎾ ᎠᎴ ꮒꭶꮣ ꭰꮒᏼꮻ ᐃᓅᔪᓕᒫᑦ ⴰⵔ ⴷ ⵜⵜⵍⴰⵍⵏ ߛߎ߬ߕߎ߬ ރަޙްމަތު
I'm sure they'd've said "it's OK", we're told; you'll see: she's, he'd, WE'RE, DON'T, I'LL, y'all, O'Neil, rock'n'roll, ‘twas’ — that’s it…
The TokenMeter tool's HTTPServer wrote XMLHttpRequest, iPhone15Pro, McDonald, eBay, camelCaseString, PascalCase, SCREAMING_SNAKE_CASE, kebab-case; NASA's JWST, U.S.A.
On 2024-11-27T16:40:59.123456Z the price was $1,234,567.89 (≈ €1.100.000,50), i.e. 3.14159e-10 × 10⁶ ½ ¾ Ⅻ ① ⑳ ٣٤ १२ 一二三 0x7fff 1_000_000 +1 (555) 010-9999.
""".splitlines()

PUNCT = list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + list("…—–‘’“”«»¿¡·•§¶†‡′″、。「」『』【】，！？：；（）।॥؟،۔·՝։፡።៖๏") + ["...", "--", "=>", "://", "```", "!!", "??", "//", "/*", "*/", "==", "!=", "&&", "$$", "\\n"]
SPACES = [" ", " ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\r", "\t", "\t\t", "\v", "\f", "\x85", "\xa0", "\u1680", "\u2000", "\u2003", "\u2009", "\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\u200b", "\ufeff", "\u180e", " \n", "\n ", " \r\n ", "\n\t"]
EMOJI = "😀 😂 🥲 ❤️ ❤ 👍🏽 👩‍👩‍👧‍👦 👨🏿‍💻 🏳️‍🌈 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇫🇷 🇯🇵 1️⃣ #️⃣ ☺️ ✈ ✅ 🫠 🫨 🪿 ⁉️ ™ ©️ 🀄 🃏 ㊗️ ↗️ ⏏ ♟️ 🤷‍♀️ 🧑🏻‍🤝‍🧑🏿 🐈‍⬛".split()
MARKS = [chr(c) for r in ((0x300, 0x370), (0x483, 0x48a), (0x591, 0x5bd), (0x64b, 0x660), (0x900, 0x904), (0x93a, 0x950), (0x9bc, 0x9ce), (0xbbe, 0xbce), (0xe31, 0xe3b), (0xe47, 0xe4f), (0x1ab0, 0x1acf), (0x1dc0, 0x1e00), (0x20d0, 0x20f1), (0x3099, 0x309b), (0xfe00, 0xfe10), (0xfe20, 0xfe30), (0xe0100, 0xe0110)) for c in range(*r)]
NUMBERS = [chr(c) for c in list(range(0x30, 0x3a)) * 6 + list(range(0x660, 0x66a)) + list(range(0x966, 0x970)) + [0xb2, 0xb3, 0xb9, 0xbc, 0xbd, 0x2070, 0x2084, 0x2160, 0x216b, 0x2460, 0x2474, 0x3007, 0x3021, 0x1d7ce, 0x1d7ff, 0x10107, 0xff10, 0xff19, 0x1f100, 0x10d40]]
CASES = list("ABCXYZabcxyzsStTdDmMlLrReEvV") + list("ÀÉÑßöÿſıİŁΣσςДжЯ") + ["ǅ", "ǈ", "ᾈ", "ʰ", "ˢ", "ª", "º", "ー", "ﾞ", "中", "あ", "ア", "א", "ا", "ก", "क", "\u0301", "\u093f", "\u0e31", "'", "'", "’", "ᲊ", "Ᲊ", "ﬁ", "Ⓐ", "ⓐ"]
WORDS = [w for line in NATURAL for w in line.split()]
ASCII = [w for line in NATURAL[:6] for w in line.split()]


def pick(pool, lo, hi):
    return "".join(R.choice(pool) for _ in range(R.randint(lo, hi)))


def natural():
    line = R.choice(NATURAL)
    a = R.randrange(len(line))
    return line[a : a + R.randint(10, 200)] if R.random() < 0.7 else R.choice(SPACES).join(R.sample(NATURAL, 2))[:400]


def mixed():
    return "".join(R.choice(WORDS) + R.choice(SPACES) for _ in range(R.randint(1, 15)))


def spaces():
    parts = []
    for _ in range(R.randint(1, 6)):
        parts.append(pick(SPACES, 1, 6))
        if R.random() < 0.8:
            parts.append(R.choice([R.choice(ASCII), R.choice(PUNCT), R.choice(NUMBERS), R.choice(WORDS), R.choice(EMOJI)]))
    if R.random() < 0.3:
        parts.reverse()
    return "".join(parts)


def marks():
    return "".join(R.choice([pick(CASES, 1, 3), R.choice(WORDS), " ", R.choice(PUNCT), ""]) + pick(MARKS, 0, 4) for _ in range(R.randint(1, 10)))


def numbers():
    return "".join(R.choice([pick(NUMBERS, 1, 8), R.choice(PUNCT), R.choice(SPACES), R.choice(CASES), R.choice(ASCII)]) for _ in range(R.randint(1, 10)))


def cases():
    return pick(CASES, 1, 30)


def contractions():
    tail = ["'s", "'S", "'t", "'T", "'re", "'RE", "'Re", "'ve", "'VE", "'m", "'M", "'ll", "'LL", "'lL", "'d", "'D", "'ſ", "'l", "'r", "'", "’s", "'x"]
    return "".join(R.choice([R.choice(ASCII), R.choice(CASES), "", " ", R.choice(WORDS)]) + R.choice(tail) + R.choice(["", "", " ", "x", "X", "1", "\n"]) for _ in range(R.randint(1, 6)))


def emoji():
    return "".join(R.choice([R.choice(EMOJI), R.choice(EMOJI), R.choice(SPACES), R.choice(WORDS), R.choice(PUNCT)]) for _ in range(R.randint(1, 12)))


def punctuation():
    return "".join(R.choice([pick(PUNCT, 1, 5), R.choice(ASCII), R.choice(SPACES), "\n", "/", "/\n"]) for _ in range(R.randint(1, 12)))


def control():
    return "".join(R.choice([chr(R.randrange(32)), chr(R.randrange(0x7f, 0xa0)), "\u200b", "\u200d", "\u200e", "\u2060", "\ufeff", "\ufffd", "\ufffe", "\U000e0041", "\ue000", "\u0378", R.choice(ASCII), R.choice(PUNCT), R.choice(SPACES), R.choice(NUMBERS)]) for _ in range(R.randint(1, 15)))


def code_point(ranges):
    while True:
        a, b = R.choice(ranges)
        c = R.randrange(a, b)
        if not 0xD800 <= c <= 0xDFFF:
            return chr(c)


def random_points():
    ranges = R.choice([
        [(0, 0x80), (0x80, 0x250)], [(0, 0x3000)], [(0x3000, 0x10000)], [(0x10000, 0x20000)], [(0, 0x110000)],
        [(0x400, 0x600), (0, 0x80)], [(0x900, 0xe00), (0x20, 0x21)], [(0x1c80, 0x1c90), (0x40, 0x5b)], [(0xa7c0, 0xa7e0), (0x61, 0x7b)],
        [(0x10d40, 0x10d90), (0x20, 0x30)], [(0x2e80, 0x3100), (0x20, 0x40)], [(0x2000, 0x2100)], [(0xff00, 0xfff0)], [(0x1d400, 0x1d800)], [(0x1f000, 0x1fb00)]])
    return "".join(code_point(ranges) for _ in range(R.randint(1, 25)))


def odd():
    return R.choice([
        lambda: "<|endoftext|>" + R.choice(ASCII), lambda: R.choice(ASCII) + " <|im_start|>user\n" + R.choice(WORDS) + "<|im_end|>", lambda: "<s>" + R.choice(ASCII) + "</s> [INST] x [/INST]",
        lambda: R.choice("aAé中 \n.1=😀ก\x00\u0301'") * R.randint(1, 300), lambda: pick("abcdef0123456789", 10, 80), lambda: pick("ACGT", 20, 200),
        lambda: "https://example.org/" + pick("abcXYZ019-_/?&=%.", 5, 60), lambda: json.dumps({R.choice(WORDS): [R.random(), R.choice(NATURAL)[:40]]}, ensure_ascii=R.random() < 0.5, indent=R.choice([None, 2])),
        lambda: "| " + " | ".join(R.choice(WORDS) for _ in range(4)) + " |\n|---|:-:|---:|---|\n", lambda: r"$\frac{\alpha_%d}{\sqrt{x^2+y^2}}$ \begin{aligned}" % R.randrange(99),
        lambda: "▁" + R.choice(ASCII) + "▁▁x ▁ y", lambda: "Ġ" + R.choice(ASCII) + "##ing [UNK] [MASK] Ċ", lambda: unicodedata.normalize(R.choice(["NFD", "NFKD", "NFKC"]), R.choice(NATURAL))[:150],
    ])()


def main():
    files = sorted(f for d in sys.argv[1:] for ext in ("go", "py", "md", "ts", "js", "html", "txtar", "yaml") for f in glob.glob(os.path.join(d, "**", "*." + ext), recursive=True))
    sources = [t for t in (open(f, encoding="utf-8", errors="replace").read() for f in files) if t]

    def code():
        text = R.choice(sources)
        a = R.randrange(len(text))
        return text[a : a + R.randint(10, 250)]

    out = ["", " ", "\n", "a", "'", "\u0301", "'s", " 's", "\r\n", " \n \n", "hello world", "Hello, world!"] + NATURAL
    kinds = [(natural, 1500), (mixed, 900), (spaces, 2200), (marks, 900), (numbers, 900), (cases, 1500), (contractions, 900),
             (emoji, 500), (punctuation, 900), (control, 600), (random_points, 1500), (odd, 600)] + ([(code, 1100)] if sources else [])
    for make, n in kinds:
        out += [make() for _ in range(n)]
    # A lone surrogate is no text.
    for s in out:
        s.encode("utf-8")
        sys.stdout.write(json.dumps(s, ensure_ascii=False) + "\n")


main()
