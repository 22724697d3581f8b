import { parseArgs } from 'node:util'
import { runChaos } from './chaos.js'

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, minutes: { type: 'string', default: '10' } },
})
const [seed, minutes] = [Number(values.seed), Number(values.minutes)]
if (!Number.isInteger(seed) || !(minutes > 0 && minutes <= 120)) {
  console.error('usage: pnpm chaos [--seed INTEGER] [--minutes UP_TO_120]')
  process.exit(2)
}
console.log(`seed ${seed}, ${minutes} minutes`)
const { survived, problems, acknowledged, failed, webhooks } = await runChaos({
  seed,
  minutes,
  log: console.log,
})

console.log('\n| fault | times | writes that failed | slowest recovery, s |\n| --- | --- | --- | --- |')
for (const fault of new Set(survived.map((one) => one.fault))) {
  const times = survived.filter((one) => one.fault === fault)
  const failures = times.reduce((sum, one) => sum + one.failed, 0)
  const slowest = Math.max(...times.map(({ recoverySeconds }) => recoverySeconds))
  console.log(`| ${fault} | ${times.length} | ${failures} | ${slowest.toFixed(1)} |`)
}
console.log(
  `\nacknowledged: ${JSON.stringify(acknowledged)}; failed: ${failed}; webhooks: ${JSON.stringify(webhooks)}`,
)
for (const problem of problems.slice(0, 50)) console.log(`✗ ${problem}`)
console.log(problems.length === 0 ? 'nothing acknowledged was lost' : `${problems.length} problems`)
process.exit(problems.length === 0 ? 0 : 1)
