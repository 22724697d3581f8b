import { expect, test } from 'vitest'
import { HostTurns, turnsMax } from './host-turns.js'

/** Turns with a clock, which `holdAll` fills with hosts that have had no turn before. */
function startTurns() {
  let nowMs = 0
  const turns = new HostTurns(() => nowMs)
  const held: (() => void)[] = []
  const begun = (host: string, tookMs = 0) => {
    let began = false
    const ended = turns.run(host, async () => {
      began = true
      nowMs += tookMs
    })
    return ended.then(() => began)
  }
  const holdAll = () => {
    for (let index = 0; index < 2 * turnsMax; index += 1)
      void turns.run(`new-${index}`, () => new Promise((resolve) => held.push(resolve)))
    return held.length
  }
  const pass = (ms: number) => {
    nowMs += ms
  }
  const release = () => {
    for (const resolve of held) resolve()
  }
  return { begun, holdAll, pass, release }
}

test('a quick host gets a turn although slow hosts and new hosts take all they can get', async () => {
  const { begun, holdAll } = startTurns()
  expect(await begun('quick')).toBe(true)
  expect(await begun('slow', 9000)).toBe(true)
  expect(holdAll()).toBeLessThan(turnsMax)
  expect(await begun('slow')).toBe(false)
  expect(await begun('new')).toBe(false)
  expect(await begun('quick')).toBe(true)
})

test('a host with a long turn is quick again only after some time', async () => {
  const { begun, holdAll, pass } = startTurns()
  await begun('host')
  await begun('host', 9000)
  await begun('host')
  holdAll()
  expect(await begun('host')).toBe(false)
  pass(11 * 60_000)
  expect(await begun('host')).toBe(true)
})

test('a turn is shorter while other hosts wait', async () => {
  let nowMs = 0
  const turns = new HostTurns(() => nowMs)
  const mayContinue: (() => boolean)[] = []
  const begin = (host: string) =>
    turns.run(host, (may) => {
      mayContinue.push(may)
      return new Promise(() => {})
    })
  void begin('first')
  nowMs = 20_000
  expect(mayContinue[0]?.()).toBe(true)
  for (let index = 0; index < turnsMax; index += 1) void begin(`other-${index}`)
  expect(mayContinue[0]?.()).toBe(false)
  expect(mayContinue[1]?.()).toBe(true)
})

test('a turn that ends lets another host begin', async () => {
  const { begun, holdAll, release } = startTurns()
  holdAll()
  expect(await begun('new')).toBe(false)
  release()
  await expect.poll(() => begun('new')).toBe(true)
})
