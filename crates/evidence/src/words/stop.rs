//! Function words: what a sentence needs and a search does not.
//!
//! The lists serve twice. A word on one of them says little about a record, so a query does not insist on it;
//! and the share of each language's function words tells a passage's language faster than any other sign.
//! They are short on purpose: every entry that could be looked for is a loss. They are written folded, as
//! terms are, and include the words that questions are made of.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::language::Language::{
    self, Czech, Danish, Dutch, English, Finnish, French, German, Hungarian, Italian, Norwegian, Polish,
    Portuguese, Romanian, Russian, Spanish, Swedish, Turkish, Ukrainian,
};

/// Whether the word, folded as [`super::forms`] gives it first, is a function word of a major language.
///
/// A function word that means a thing in another language (`war`, `die`, `son`) is not counted here, because
/// a single word does not tell its language.
pub fn is_stop_word(folded: &str) -> bool {
    let languages = languages(folded);
    languages & bit(English) != 0 || (languages != 0 && !MEANINGFUL.contains(folded))
}

/// The set of languages with this function word, one [`bit`] each.
pub(crate) fn languages(folded: &str) -> u32 {
    LANGUAGES_BY_WORD.get(folded).copied().unwrap_or_default()
}

pub(crate) fn bit(language: Language) -> u32 {
    1 << (language as u32)
}

static LANGUAGES_BY_WORD: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let mut table = HashMap::new();
    for (language, words) in LISTS {
        for word in words.split_ascii_whitespace() {
            *table.entry(word).or_default() |= bit(*language);
        }
    }
    table
});

/// Function words that are subjects, names or abbreviations elsewhere.
static MEANINGFUL: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "a b c d e f g h i j k l m n o p q r s t u v w x y z ad ai al alt ar art ate au bare ben bin bit ca care com come \
     dan den dem die dig door dove ela elle end era eu fine for fra fur god ham han hans hat hem hen hit hun io kan \
     kim la los man mar mas meg men mes met mi mia min mine mit mod mon most na net od ole om os pan par pas pe per \
     plus pod pot pour sans sao sein sen sera si sig sin sit sol son sue sur ta tam te tem ten to toe ton tot tu un \
     van var ver via war want wen za"
        .split_ascii_whitespace()
        .collect()
});

const LISTS: &[(Language, &str)] = &[
    (
        English,
        "a about after again all also am an and any anyone anything are as at be because been before being both but \
         by can can't cannot could couldn't did didn't do does doesn't doing don't done each every for from had \
         hasn't has have haven't having he he's her hers him his how how's i i'd i'll i'm i've if in into is isn't it \
         it's its just let let's me more most my no nor not of off on once or other our ours out over please own same \
         shall she she's should shouldn't so some someone something such tell than that that's the their theirs them \
         then there there's these they they're they've this those though through to too under until up upon us very \
         was wasn't we we're we've were weren't what what's whatever when when's where where's which while who who's \
         whom whose why will with within without won't would wouldn't yes yet you you're you've your yours",
    ),
    (
        German,
        "aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein dem den denn der des dich \
         die dies diese dieser dir doch du durch ein eine einem einen einer es euch euer fur gibt habe haben hat hatte \
         hier ich ihm ihn ihr im in ist ja jede kann kein keine konnen mein meine mich mir mit nach nicht noch nur \
         oder ohne schon sehr sein seine sich sie sind so uber um und uns unser vom von vor wann war waren warum was \
         weil welche wenn wer werden wie wir wird wo worden wurde zu zum zur",
    ),
    (
        French,
        "a ai ainsi alors as au aussi aux avait avec avez avoir c ce cela ces cet cette chez comme comment d dans de \
         des donc dont du elle elles en encore est et etait etaient ete etre eux fait il ils j je l la le les leur \
         leurs lui m ma mais me meme mes moi mon n ne nos notre nous on ont ou par pas plus pour pourquoi qu quand que \
         quel quelle quels qui quoi s sa sans se sera ses si son sont suis sur t ta te tes toi ton tous tout toute tres \
         tu un une vos votre vous y",
    ),
    (
        Spanish,
        "a al algo ante antes aquel aqui asi aunque cada como con contra cual cuales cuando cuanto de del desde donde \
         dos e el ella ellas ellos en entre era eran es esa ese eso esta estaba estan estas este esto estos fue fueron \
         ha habia han hasta hay la las le les lo los mas me mi mis mucho muy nada ni no nos nosotros o os otra otro \
         para pero poco por porque puede que quien quienes se ser si sido sin sobre son soy su sus tambien te tiene \
         todo todos tu tus un una unas uno unos usted y ya yo",
    ),
    (
        Italian,
        "a ad agli ai al alla alle allo anche avere c che chi ci come con cosa cui d da dagli dal dalla de degli dei del \
         della delle dello di dove e ed era erano essere fra fu gli ha hai hanno ho i il in io l la le lei li lo loro \
         lui ma mi mia mie mio nei nel nella nelle no noi non nostro o ogni per perche piu poi puo qual quale quando \
         quanto quella quelle quello questa queste questi questo qui sara se sei si sia solo sono sta stato sua sue sul \
         sulla suo ti tra tu tua tuo tutti tutto un una uno voi",
    ),
    (
        Portuguese,
        "a ao aos as ate com como da das de dela dele deles depois do dos e ela elas ele eles em entre era essa esse \
         esta estao estava este eu foi foram ha isso isto ja la mais mas me mesmo meu minha muito na nao nas nem no nos \
         nossa nosso num numa o onde os ou para pela pelo pelos por porque pra qual quais quando que quem se sem ser seu \
         seus so sua suas sao tambem tem tinha todos um uma voce voces",
    ),
    (
        Dutch,
        "aan al alle als altijd ben bij daar dan dat de deze die dit door dus een en er geen had heb hebben heeft hem \
         het hier hij hoe hun ik in is ja je jij jou jullie kan kunnen maar me meer men met mijn moet na naar niet niets \
         nog nu of om omdat onder ons ook op over te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want \
         waren was wat we wel welke werd wie wij wil worden wordt zal ze zei zich zij zijn zo zonder zou",
    ),
    (
        Swedish,
        "alla att av bara blev bli blir da de dem den denna deras dess det detta dig din du efter eller en er ett fran \
         for ha hade han har hans hela hon hur i icke in inte jag kan kunde man med mellan men mig min mot mycket \
         nar nagon nagra ni nu nagot och om oss pa sa sedan sig sin sitt ska skulle som till under upp ut utan vad var \
         vara vart vem vi vid vilka vilken",
    ),
    (
        Danish,
        "ad af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din du efter eller en end \
         er et for fra ham han hans har havde have hende hos hun hvad hvem hvis hvor hvorfor i ikke ind jeg jer kan kunne \
         man mange med meget men mig min mit mod noget nogle nu nar og ogsa om op os over pa sig sin sit skal skulle som \
         til ud under var vi vil ville vaere",
    ),
    (
        Norwegian,
        "alle at av bare ble bli da de deg dem den denne der dere det dette din du eller en er et etter for fra ha hadde \
         han har hun hva hvem hvis hvor hvorfor i ikke inn ja jeg kan kunne med meg mellom men min mot mye noe noen na \
         nar og ogsa om opp oss over pa sa seg selv sin skal skulle som til ut var vi vil ville vaere",
    ),
    (
        Finnish,
        "ei eivat en etta han hanen he hyvin ja jo joka jos jossa jotka kanssa koska kuin kuka kun me mika mina minun \
         missa mita mutta myos ne niin nyt ole olen oli olivat olla on ovat se sen sina sita tai tama tassa te tuo vain \
         voi",
    ),
    (
        Polish,
        "albo ale bardzo bez byc byl byla bylo co czy dla do gdy gdzie go i ich ja jak jako je jego jej jest jestem juz \
         kiedy kto ktora ktore ktory ma mi mnie moze na nad nas nie nim o od on ona oraz po pod przez przy sa sie ta tak \
         tam te tego ten to tu tylko tym w we wiec z za ze",
    ),
    (
        Czech,
        "a aby aj ale ani az bez by byl byla bylo byt co do i ja jak jako je jeho jej jen jeste ji jsem jsme jsou k kde \
         kdo kdy kdyz ktera ktere ktery ma me mi mne na nad ne nebo nez o od po pod podle pro proc proto pri s se si \
         tak take tam tento to toho tu ty u uz v vam vas ve vsak z za ze",
    ),
    (
        Romanian,
        "acest aceasta ai al ale am ar are as asa au avea ca care ce cel cine cu cum cand da daca de decat despre din doar \
         dupa ea ei el ele era este eu fi fie fost i iar in intr isi la le lor lui mai ma mea meu mi mult ne nici nu o \
         ori pe pentru prin sa sau se si spre sunt te tu un una unde unei unui va vor",
    ),
    (
        Hungarian,
        "a abban ahol aki akkor ami amely az azt azonban be csak de egy egyik el en es ez ezt fel hanem hogy hol igen is \
         itt ki kell le lehet lesz mar meg meg mert mi miert mikor milyen mint mit most nagyon nem neki o ok ott pedig s \
         sem szerint ti ugy utan vagy vagyok van volt",
    ),
    (
        Turkish,
        "acaba ama ancak bazi belki ben bir biz bu cok cunku da daha de defa diye en gibi hangi hem hep her hic icin ile \
         ise kadar kez ki kim mi mu nasil ne neden nerede niye o olan olarak oldu sen siz su tum ve veya ya yani",
    ),
    (
        Russian,
        "а без бы был была были было быть в вам вас весь во вот все всех вы где да для до его ее если есть еще же за и из \
         или им их к как какои когда кто ли меня мне мои мы на над нас не него нет ни но о об он она они оно от по под \
         почему при с сам себя со так там те тем то тои того тоже только том ты у уже хотя чего чем что чтобы это этого \
         этои этот я",
    ),
    (
        Ukrainian,
        "але без бо був була були було в вам вас ви вже від він вона вони воно все всі де для до же з за зі и и і із их \
         іх ii або к коли хто ми мене мені на над нас не него нема ні але о об от по під при про та так там те ти то \
         тільки того у хоча це цеи цього чи чому що щоб як яка які якии я є",
    ),
];
