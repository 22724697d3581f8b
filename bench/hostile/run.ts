import { parseArgs } from 'node:util'
import { grpcInputs } from './grpc-inputs.js'
import { httpInputs } from './http-inputs.js'
import { besideNeighbour } from './neighbour.js'
import { createUser } from './scene.js'
import { startTree } from './tree.js'

const { values } = parseArgs({ options: { only: { type: 'string', default: '' } } })
const inputs = [...httpInputs, ...grpcInputs].filter(({ name }) => name.includes(values.only))

const tree = await startTree()
try {
  const attacker = await createUser(tree, 'attacker')
  const neighbour = await createUser(tree, 'neighbour')
  console.log('| input | result | neighbour, worst ms | failures | memory, MB |')
  console.log('| --- | --- | --- | --- | --- |')
  for (const { name, service, run } of inputs) {
    let outcome = ''
    const seen = await besideNeighbour(tree, service, neighbour.token, async () => {
      outcome = await run({ tree, attacker, neighbour }).catch(
        (error: Error) => `failed: ${error.message} ${error.cause ?? ''}`,
      )
    })
    const memory = `+${Math.round(seen.grownBytes / 1e6)}`
    const failures = `${seen.failures} of ${seen.count}`
    console.log(`| ${name} | ${outcome} | ${Math.round(seen.worstMs)} | ${failures} | ${memory} |`)
  }
} finally {
  await tree.stop()
}
