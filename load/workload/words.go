package workload

import "strings"

// words are 512 everyday English words, each of which is one token of the usual
// byte-pair vocabularies (checked with o200k_base and cl100k_base), with or
// without a capital and a space before it. So a text of n of them has about n
// tokens on most servers, and no text depends on a tokenizer that isn't at hand.
var words = strings.Fields(`
time year people way day man thing woman life child world school state
family student group country problem hand part place case week company
system program question work government number night point home water room
mother area money story fact month lot right study book eye job word
business issue side kind head house service friend father power hour game
line end member law car city community name team minute kid body information
back parent face others level office door health person art history party
result change reason research girl air force education foot boy age policy
music market sense nation plan college interest experience effect use class
control care field development role rate heart show leader light voice mind
price report son view town road arm value building action season tax
director position player record paper space ground form event official
center site project activity star table need oil cost figure street image
phone data picture practice piece land product doctor wall patient worker
news test movie north love support technology step baby computer type film
tree source hair look window culture energy period course summer plant term
letter condition choice rule south floor campaign material population call
hospital church risk fire future bank west sport board subject rest behavior
performance top goal second bed order author agency nature color store sound
page race series language response animal factor article east artist scene
stock size dog fund media sign thought list individual quality pressure
answer resource success amount ability staff character loss degree region
box training trade deal standard bill message analysis section glass skill
operation stage design sort knowledge station truth song example environment
leg dark public bad best better big blue clear close cold common current
different early easy fine foreign free full general good great green happy
hard high hot human important international large late legal little local
long low main major medical modern national natural new nice old open other
past personal physical present private ready real recent red short similar
simple single small social special strong sure true wide wrong young after
again against all almost along already also although always among and
another any around ask away before begin between both break bring build buy
can catch cause come consider continue could create cut develop draw drive
drop eat enter even ever every fall feel few find follow from get give grow
help here hold hope how however if join just keep know lead learn leave less
let like live make many maybe meet more most move much must never next
nothing now often once only out over own pass pay perhaps play protect pull
push put quite rather read remember remove represent return run save say
send set should sing sit sleep some soon stand start stay stop such take
talk tell that the their then there these they think this those through
throw today too travel try turn under until upon very wait walk want watch
what when where which while who why will win with within without would write
yes yet you
`)
