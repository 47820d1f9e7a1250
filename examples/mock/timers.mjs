// Prints how many milliseconds a wait of so many takes by this machine's timers: the median of 40, one after another.
const wait = Number(process.argv[2]);
const took = [];
for (let i = 0; i < 40; i++) {
  const start = performance.now();
  await new Promise((done) => setTimeout(done, wait));
  took.push(performance.now() - start);
}
took.sort((a, b) => a - b);
console.log(took[20].toFixed(2));
