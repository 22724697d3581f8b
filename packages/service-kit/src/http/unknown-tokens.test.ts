import { isRefusal } from '@switchyard/domain'
import type { Caller } from '@switchyard/domain/access'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AuthenticateFrom } from './authentication.js'
import { limitersOfProcess } from './limiters.js'
import { senderAddress } from './sender.js'
import { limitUnknownTokens } from './unknown-tokens.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

const good = ['good', 'never used']
const holder = { user: { id: 1 }, token: { id: 1 } } as Caller
const limited = () =>
  limitUnknownTokens(async (secret) => (good.includes(secret) ? holder : null), {
    isOn: true,
    kind: 'tokens',
    createLimiter: limitersOfProcess,
  })

/** Returns the seconds until the address may continue; null when it was not refused. */
async function refusedSeconds(authenticate: AuthenticateFrom, secret: string, address: string) {
  try {
    await authenticate(secret, address)
    return null
  } catch (error) {
    if (isRefusal(error, 'rate-limited') || isRefusal(error, 'unavailable'))
      return Math.ceil((error.retryAfterMs ?? 0) / 1000)
    throw error
  }
}

/** Refuses two addresses; the first one then has both look-ups under way, and neither ends by itself. */
async function refusedWithHangingLookUps() {
  let release: () => void = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  let hangs = 0
  const authenticate = limitUnknownTokens(
    async (secret) => {
      if (secret.startsWith('hangs')) {
        hangs += 1
        await released
      }
      return good.includes(secret) ? holder : null
    },
    { isOn: true, kind: 'tokens', createLimiter: limitersOfProcess },
  )
  for (const address of ['192.0.2.1', '192.0.2.2']) {
    await tryTokens(authenticate, address)
    expect(await refusedSeconds(authenticate, 'unknown', address)).toBe(60)
  }
  for (const secret of ['hangs 1', 'hangs 2']) void refusedSeconds(authenticate, secret, '192.0.2.1')
  return { authenticate, release, hangs: () => hangs }
}

async function tryTokens(authenticate: AuthenticateFrom, address: string, count = 60) {
  for (let number = 0; number < count; number++)
    expect(await refusedSeconds(authenticate, `wrong-${number}`, address)).toBeNull()
}

describe('an address that tries tokens', () => {
  it('is refused longer each time, up to a quarter of an hour, and starts over after an hour without tries', async () => {
    const authenticate = limited()
    for (const seconds of [60, 120, 240, 480, 900, 900]) {
      await tryTokens(authenticate, '192.0.2.1')
      expect(await refusedSeconds(authenticate, 'unknown', '192.0.2.1')).toBe(seconds)
      vi.advanceTimersByTime(seconds * 1000)
    }
    vi.advanceTimersByTime(3_600_000)
    await tryTokens(authenticate, '192.0.2.1')
    expect(await refusedSeconds(authenticate, 'unknown', '192.0.2.1')).toBe(60)
  })

  it('never keeps a valid token from working, whether it was used before or not, at this address or elsewhere', async () => {
    const authenticate = limited()
    expect(await authenticate('good', '192.0.2.1')).toBe(holder)
    await tryTokens(authenticate, '192.0.2.1')
    expect(await refusedSeconds(authenticate, 'unknown', '192.0.2.1')).toBe(60)
    expect(await authenticate('good', '192.0.2.1')).toBe(holder)
    expect(await authenticate('never used', '192.0.2.1')).toBe(holder)
    expect(await authenticate('never used', '192.0.2.2')).toBe(holder)
  })

  it('has at most two unknown tokens looked up at once while it is refused, besides recently valid ones', async () => {
    let running = 0
    let most = 0
    const authenticate = limitUnknownTokens(
      async (secret) => {
        running += 1
        most = Math.max(most, running)
        await new Promise(setImmediate)
        running -= 1
        return good.includes(secret) ? holder : null
      },
      { isOn: true, kind: 'tokens', createLimiter: limitersOfProcess },
    )
    vi.useRealTimers()
    expect(await authenticate('good', '192.0.2.1')).toBe(holder)
    for (let number = 0; number < 61; number++)
      await refusedSeconds(authenticate, `wrong-${number}`, '192.0.2.1')
    most = 0
    const flood = Array.from({ length: 500 }, (_, number) =>
      refusedSeconds(authenticate, `flood-${number}`, '192.0.2.1'),
    )
    const served = authenticate('never used', '192.0.2.1')
    expect(await Promise.all(flood)).not.toContain(null)
    expect(await served).toBe(holder)
    expect(most).toBe(2)
  })

  it('does not delay another refused address by sending many tokens', async () => {
    let lookedUp = 0
    const authenticate = limitUnknownTokens(
      async (secret) => {
        lookedUp += 1
        await new Promise(setImmediate)
        return good.includes(secret) ? holder : null
      },
      { isOn: true, kind: 'tokens', createLimiter: limitersOfProcess },
    )
    vi.useRealTimers()
    for (const address of ['192.0.2.1', '192.0.2.2'])
      for (let number = 0; number < 61; number++)
        await refusedSeconds(authenticate, `wrong-${number}`, address)
    lookedUp = 0
    const flood = Array.from({ length: 500 }, (_, number) =>
      refusedSeconds(authenticate, `flood-${number}`, '192.0.2.1'),
    )
    expect(await authenticate('good', '192.0.2.2')).toBe(holder)
    expect(lookedUp).toBeLessThan(10)
    await Promise.all(flood)
  })

  it('is refused with a time to try again when its tokens wait for too long, or when too many wait', async () => {
    const { authenticate, hangs } = await refusedWithHangingLookUps()
    const waiting = Array.from({ length: 1000 }, (_, number) =>
      refusedSeconds(authenticate, `waiting-${number}`, '192.0.2.1'),
    )
    // Such a token may be valid, so it is not refused as an unknown one.
    const oneTooMany = authenticate('never used', '192.0.2.1')
    await expect(oneTooMany).rejects.toMatchObject({ kind: 'unavailable', retryAfterMs: 1000 })
    const elsewhere = refusedSeconds(authenticate, 'waiting', '192.0.2.2')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([1]))
    expect(await elsewhere).toBe(1)
    expect(hangs()).toBe(2)
  })

  it('has no token looked up whose sender has gone away', async () => {
    const { authenticate, release, hangs } = await refusedWithHangingLookUps()
    const leaving = new AbortController()
    const gone = authenticate('hangs 3', '192.0.2.1', undefined, () => leaving.signal)
    leaving.abort()
    await expect(gone).rejects.toMatchObject({ kind: 'unavailable' })
    release()
    expect(await authenticate('never used', '192.0.2.1')).toBe(holder)
    expect(hangs()).toBe(2)
  })

  it('gets no further tries by changing its address within its IPv6 network', async () => {
    const authenticate = limited()
    for (let number = 0; number < 60; number++)
      await authenticate(`wrong-${number}`, `2001:db8:1:2::${number}`)
    expect(await refusedSeconds(authenticate, 'unknown', '2001:db8:1:2:ffff::1')).toBe(60)
    expect(await refusedSeconds(authenticate, 'unknown', '2001:db8:1:3::1')).toBeNull()
  })
})

it.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  [undefined, ''],
  ['no address', 'no address'],
])('the sender behind %s is %s', (ip, sender) => {
  expect(senderAddress(ip)).toBe(sender)
})
