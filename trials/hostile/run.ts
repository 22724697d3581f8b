import { parseArgs } from 'node:util'
import { createUser } from '../support/api.js'
import { startTree } from '../support/tree.js'
import type { Answers } from './ask-process.js'
import { gitInputs } from './git-inputs.js'
import { grpcInputs } from './grpc-inputs.js'
import { httpInputs } from './http-inputs.js'
import { besideNeighbour } from './neighbour.js'

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, services: { type: 'string' } },
})
const inputs = [...httpInputs, ...gitInputs, ...grpcInputs].filter(({ name }) => name.includes(values.only))

const figures = (answers: Answers | undefined) =>
  answers
    ? `${Math.round(answers.p99Ms)} / ${Math.round(answers.worstMs)}, ${answers.failures} of ${answers.count}`
    : ''

const tree = await startTree({ root: values.services, env: { SAGA_AUTH: 'token' } })
try {
  const attacker = await createUser(tree, 'attacker')
  const neighbour = await createUser(tree, 'neighbour')
  const scene = { tree, attacker, neighbour }
  console.log('| input | result | neighbour: p99 / worst ms, failures | its git read | memory, MB |')
  console.log('| --- | --- | --- | --- | --- |')
  for (const { name, service, prepare, run } of inputs) {
    await prepare?.(scene)
    let outcome = ''
    const { small, read, grownBytes } = await besideNeighbour(tree, service, neighbour, async () => {
      outcome = await run(scene).catch((error: Error) => `failed: ${error.message} ${error.cause ?? ''}`)
    })
    const memory = `+${Math.round(grownBytes / 1e6)}`
    console.log(`| ${name} | ${outcome} | ${figures(small)} | ${figures(read)} | ${memory} |`)
  }
} finally {
  await tree.stop()
}
