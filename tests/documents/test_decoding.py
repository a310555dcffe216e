import re
from pathlib import Path

import pytest

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.reflow.encodings import utf_16_without_mark
from quoteweave.documents.reflow.html import parse_html
from quoteweave.documents.reflow.text_files import read_text, without_unstorable

CHARSET = re.compile(rb"charset=([\w-]+)")


def decoded(tmp_path: Path, data: bytes) -> tuple[str, tuple[str, ...]]:
    path = tmp_path / "page.html"
    path.write_bytes(data)
    return read_text(path, megabytes=1, declared=CHARSET)


@pytest.mark.parametrize("name", ["shift_jis", "euc-kr", "gb18030", "big5", "koi8-r", "iso-8859-2"])
def test_a_declared_encoding_is_used(tmp_path: Path, name: str) -> None:
    words = {"shift_jis": "日本語", "euc-kr": "한국어", "gb18030": "中文", "big5": "中文", "koi8-r": "слово"}.get(
        name, "łódź"
    )
    assert decoded(tmp_path, f"charset={name} {words}".encode(name)) == (f"charset={name} {words}", ())


@pytest.mark.parametrize(
    ("name", "words"),
    [("iso-2022-jp", "日本語"), ("iso-2022-kr", "한국어"), ("hz-gb-2312", "中文"), ("iso-2022-jp-2", "語")],
)
def test_an_encoding_whose_bytes_are_valid_utf_8_is_used(tmp_path: Path, name: str, words: str) -> None:
    assert decoded(tmp_path, f"charset={name} ".encode() + words.encode(name)) == (f"charset={name} {words}", ())
    assert decoded(tmp_path, f"charset={name} plain".encode()) == (f"charset={name} plain", ())


def test_iso_2022_jp_is_known_where_nothing_declares_it(tmp_path: Path) -> None:
    assert decoded(tmp_path, "港は春に".encode("iso-2022-jp")) == ("港は春に", ())
    assert decoded(tmp_path, b"a ~{ b \x1b[1m c") == ("a ~{ b \x1b[1m c", ())


def test_valid_utf_8_wins_over_what_is_declared(tmp_path: Path) -> None:
    assert decoded(tmp_path, "charset=iso-8859-1 é".encode()) == ("charset=iso-8859-1 é", ())


@pytest.mark.parametrize(
    "words",
    ["Шахту закрыли, когда поднялась вода.", "港は春に開いた。船が着く。", "L’été a été très long, hélas… où ?"],
)
def test_a_bad_byte_in_utf_8_is_replaced_alone(tmp_path: Path, words: str) -> None:
    told = ("1 character is not valid utf-8, and replaced.",)
    assert decoded(tmp_path, words.encode() + b"\xff " + words.encode()) == (f"{words}\ufffd {words}", told)


def test_a_declaration_may_stand_below_the_scripts_of_a_page(tmp_path: Path) -> None:
    scripts = "<html><head><script>let charset = 'koi8-r';</script>" + "<script>f();</script>" * 99
    (tmp_path / "a.html").write_bytes(f"{scripts}<meta charset=iso-8859-2><body>łódź".encode("iso-8859-2"))
    parsed = parse_html(tmp_path / "a.html", ImageStore(tmp_path))
    assert ([quote.text for quote in parsed.quotes], parsed.warnings) == (["łódź"], ())


def test_latin_1_means_windows_1252_as_on_the_web(tmp_path: Path) -> None:
    assert decoded(tmp_path, b"charset=iso-8859-1 \x80") == ("charset=iso-8859-1 €", ())


@pytest.mark.parametrize("name", ["zip", "rot13", "unicode_escape", "punycode", "idna", "nonsense", "utf-7"])
def test_codecs_that_are_no_encodings_of_text_are_not_used(tmp_path: Path, name: str) -> None:
    text, warnings = decoded(tmp_path, f"charset={name} ".encode() + b"\xe9\\u0041")
    assert text == f"charset={name} é\\u0041"
    assert "Windows-1252" in warnings[0]


RUSSIAN = "Мы прошли вдоль берега и нашли старую шахту. Её закрыли в 1931 году, когда вода поднялась выше."
GREEK = "Το λιμάνι έκλεισε τον Μάιο, όταν η άμμος γέμισε την είσοδο. Οι ναυτικοί έφυγαν προς τα νησιά του Νότου."
HEBREW = "הנמל נסגר בחודש מאי, כאשר החול מילא את הכניסה. המלחים עזבו אל האיים שבדרום ולא שבו אליו עוד לעולם."
ARABIC = "أغلق الميناء في شهر مايو عندما ملأت الرمال المدخل، وغادر البحارة إلى الجزر الجنوبية ولم يعودوا إليه بعد ذلك."
JAPANESE = "港は五月に閉鎖された。砂が入口を埋めたからである。船員たちは南の島々へ去り、二度と戻らなかったという。"
CHINESE = "港口在五月关闭，因为沙子填满了入口。水手们离开这里前往南方的岛屿，再也没有回来过。"
TRADITIONAL = "港口在五月關閉，因為沙子填滿了入口。水手們離開這裡前往南方的島嶼，再也沒有回來過。"
KOREAN = "항구는 오월에 문을 닫았다. 모래가 입구를 메웠기 때문이다. 선원들은 남쪽 섬으로 떠나 돌아오지 않았다."


@pytest.mark.parametrize(
    ("encoding", "words", "said"),
    [
        ("cp1251", RUSSIAN, "Windows-1251"),
        ("koi8-r", RUSSIAN, "KOI8-R"),
        ("cp866", RUSSIAN, "DOS-866"),
        ("iso8859-5", RUSSIAN, "ISO-8859-5"),
        ("cp1253", GREEK, "Windows-1253"),
        ("cp1255", HEBREW, "Windows-1255"),
        ("cp1256", ARABIC, "Windows-1256"),
        ("shift_jis", JAPANESE, "Shift-JIS"),
        ("euc-jp", JAPANESE, "EUC-JP"),
        ("gbk", CHINESE, "GB18030"),
        ("big5", TRADITIONAL, "Big5"),
        ("euc-kr", KOREAN, "EUC-KR"),
        ("utf-16-le", RUSSIAN, "UTF-16-LE"),
        ("utf-16-be", "The harbour closed in May.", "UTF-16-BE"),
    ],
)
def test_the_encoding_of_other_scripts_is_recognised_and_told(
    tmp_path: Path, encoding: str, words: str, said: str
) -> None:
    text, warnings = decoded(tmp_path, f"{'int main();' * 9} {words * 2}".encode(encoding))
    assert text.endswith(words * 2)
    assert warnings == (f"Its encoding is unknown, and was taken for {said}; if that is wrong, save it as UTF-8.",)


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("cp1251", "Шахта закрыта."),  # too short
        ("cp1251", RUSSIAN.upper()),
        ("iso8859-2", "Zażółć gęślą jaźń, bo świat się śmieje. " * 9),
        ("cp1252", "«\xa0Où êtes-vous\xa0?\xa0» «\xa0À l’étage, près de la fenêtre\xa0!\xa0» " * 9),
        ("cp1252", "ÄÖÜäöüß" * 30),
        ("cp1252", "•\xa0" * 90),
    ],
)
def test_what_is_certain_in_no_encoding_is_windows_1252(tmp_path: Path, encoding: str, words: str) -> None:
    data = words.encode(encoding)
    text, warnings = decoded(tmp_path, data)
    assert text == data.decode("cp1252", "replace")
    assert "Windows-1252" in warnings[0]


@pytest.mark.parametrize("data", [bytes(range(256)) * 9, b"\x01\x00\x02\x00" * 99, b"a\x00b\x00c\x00" * 99])
def test_binary_data_is_no_utf_16(data: bytes) -> None:
    assert utf_16_without_mark(data) is None


def test_what_cannot_be_stored_is_replaced() -> None:
    assert without_unstorable("a\x00b\ud800c") == "ab\ufffdc"
