import type { Page } from 'playwright-core'

/** Returns the bytes of all scripts, as transferred, that a visit of a page needs. */
export async function scriptBytes(page: Page, go: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  const scripts = new Set<string>()
  let bytes = 0
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (scripts.has(requestId)) bytes += encodedDataLength
  })
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await go()
  await session.detach()
  return bytes
}

/** Returns the time until no part of a page is busy, with a slower processor and an empty cache. */
export async function interactiveMs(page: Page, throttle: number, go: () => Promise<void>): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.setCacheDisabled', { cacheDisabled: true })
  await session.send('Emulation.setCPUThrottlingRate', { rate: throttle })
  await go()
  const elapsedMs = await page.evaluate(() => performance.now())
  await session.detach()
  return elapsedMs
}

export interface Scrolling {
  frames: number
  /** Number of tasks of more than 100 ms. */
  longTasks: number
  longestMs: number
}

/** Scrolls the window down by its height in each frame, and back up at the end. */
export const scrollByScreens = (page: Page, frames: number): Promise<Scrolling> =>
  page.evaluate(async (count) => {
    const durations: number[] = []
    const observer = new PerformanceObserver((list) => {
      durations.push(...list.getEntries().map(({ duration }) => duration))
    })
    observer.observe({ type: 'longtask' })
    let direction = 1
    for (let frame = 0; frame < count; frame += 1) {
      await new Promise((resolve) => requestAnimationFrame(resolve))
      const before = window.scrollY
      window.scrollBy(0, direction * window.innerHeight)
      if (window.scrollY === before) direction = -direction
    }
    await new Promise((resolve) => setTimeout(resolve, 500))
    observer.disconnect()
    return {
      frames: count,
      longTasks: durations.filter((ms) => ms > 100).length,
      longestMs: Math.max(0, ...durations),
    }
  }, frames)

/** Returns the share of time in which the main thread of a page is busy. */
export async function mainThreadShare(page: Page, seconds: number): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const read = async (name: string) =>
    (await session.send('Performance.getMetrics')).metrics.find((metric) => metric.name === name)?.value ??
    Number.NaN
  const [busy, at] = [await read('TaskDuration'), await read('Timestamp')]
  await page.waitForTimeout(seconds * 1000)
  const share = ((await read('TaskDuration')) - busy) / ((await read('Timestamp')) - at)
  await session.detach()
  return share
}
