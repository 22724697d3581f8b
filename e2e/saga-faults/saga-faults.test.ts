import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { mountDisk } from './support/disk.js'
import { reportDisturbed } from './support/disturbed.js'
import { queryAll } from './support/query-all.js'
import { clockJumps, type Scene, startScene } from './support/scene.js'
import { expectNothingLost } from './support/verify.js'

// One run of traffic goes through all faults, one after the other; what it was told is compared with the log at the end.

const disk = mountDisk()
if (!disk) console.warn('SKIPPED: a full disk can only be tried by a user who may mount one (root)')

let scene: Scene
beforeAll(async () => {
  scene = await startScene(disk?.folder)
})
afterEach(() => {
  expect(scene.traffic.notStored()).toEqual([])
})
afterAll(async () => {
  await scene?.stop()
  disk?.unmount()
})

describe('reporters', () => {
  it('killed during load come back, and the others go on', async () => {
    const { traffic, reporters } = scene
    for (const reporter of reporters) {
      await traffic.progress()
      await reporter.end('SIGKILL')
      await traffic.trouble()
      await reporter.start()
    }
    await traffic.progress()
  })

  it('restarted one after the other finish what they have begun', async () => {
    const { traffic, reporters } = scene
    for (const reporter of reporters) {
      await traffic.progress()
      expect(await reporter.end('SIGTERM')).toBe(0)
      await reporter.start()
    }
    await traffic.progress()
  })

  it('go on while Redis hangs and when it is gone', async () => {
    const { traffic, reporters, redis } = scene
    process.kill(redis.process.pid() ?? 0, 'SIGSTOP')
    await traffic.progress()
    redis.process.kill()
    await traffic.progress()
    expect(await Promise.all(reporters.map((reporter) => reporter.isReady()))).toEqual([true, true])
  })

  it('go on when a clock jumps ahead and back', async () => {
    const { traffic, reporters } = scene
    for (const _ of clockJumps) {
      reporters[0].signal('SIGUSR2')
      await traffic.progress()
    }
    const [times] = await queryAll(
      scene.databaseUrl,
      `SELECT count(*) FILTER (WHERE received_at > now() + interval '1 day')::integer AS ahead,
              count(*) FILTER (WHERE received_at < now() - interval '1 day')::integer AS behind
       FROM saga_events`,
    )
    expect(times?.ahead).toBeGreaterThan(50)
    expect(times?.behind).toBeGreaterThan(50)
  })
})

describe('PostgreSQL', () => {
  it('killed with all of its sessions during load is used again once it is back', async () => {
    const { traffic, server } = scene
    server.killHard()
    await traffic.trouble()
    await traffic.progress()
  })

  it('that hangs is waited for, and nothing is acknowledged meanwhile', async () => {
    const { traffic, server } = scene
    server.freeze()
    try {
      // Answers may have been under way.
      await traffic.trouble()
      const acknowledged = traffic.stored
      await traffic.trouble()
      expect(traffic.stored).toBe(acknowledged)
    } finally {
      server.thaw()
    }
    await traffic.progress()
  })

  it('behind a link that drops its connections is found again', async () => {
    const { traffic, link } = scene
    link.cut()
    await traffic.trouble()
    link.mend()
    await traffic.progress()
    expect(await scene.reporters[0].isReady()).toBe(true)
  })

  it('behind a link that swallows what is sent, and never says so, is found again', async () => {
    const { traffic, link } = scene
    link.swallow()
    await traffic.trouble()
    link.mend()
    await traffic.progress()
  })

  it.skipIf(!disk)('on a full disk makes calls UNAVAILABLE, and takes them once there is space', async () => {
    const { traffic, server } = scene
    disk?.fill()
    await traffic.trouble(100)
    disk?.clear()
    await server.restart()
    await traffic.progress()
  })
})

it('every acknowledged event is in the log once, also repeated and reordered ones, and no caller was refused', async () => {
  const { traffic, reporters } = scene
  const ports = reporters.map(({ grpcPort }) => grpcPort)
  const given = { sagas: 100, callers: 4, duplicates: 0.05, reordered: 0.05 }
  const disturbed = await reportDisturbed(ports, given)
  expect(disturbed.duplicates).toBeGreaterThan(15)
  expect(disturbed.reordered).toBeGreaterThan(15)
  await traffic.stop()
  const results = new Map([...traffic.results, ...disturbed.results])
  const finals = new Map([...traffic.finals, ...disturbed.finals])
  await expectNothingLost({ results, finals }, scene.databaseUrl)
})
