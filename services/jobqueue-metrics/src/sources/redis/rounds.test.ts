import { expect, test } from 'vitest'
import { ReadCommand } from './read-command.js'
import { askInRounds } from './rounds.js'

test('what is asked of answers goes together into the next round, until nothing is asked', async () => {
  const rounds: string[][] = []
  const read = async (commands: readonly ReadCommand[]) => {
    rounds.push(commands.map(({ args }) => args.join(' ')))
    return commands.map(({ args }) => `${args[0]}!`)
  }
  const heard: unknown[] = []
  await askInRounds({ read }, (ask) => {
    for (const key of ['a', 'b'])
      ask(new ReadCommand('get', key), (answer) => {
        ask(new ReadCommand('llen', String(answer)), (length) => heard.push(length))
      })
    ask(new ReadCommand('get', 'c'), (answer) => heard.push(answer))
  })
  expect(rounds).toEqual([
    ['a', 'b', 'c'],
    ['a!', 'b!'],
  ])
  expect(heard).toEqual(['c!', 'a!!', 'b!!'])
})
