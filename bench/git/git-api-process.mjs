import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createServiceContext } from '@switchyard/service-kit/lifecycle'
import { configSchema } from '../../services/git-api/dist/config.js'
import { createService } from '../../services/git-api/dist/service.js'

const context = createServiceContext('git-api', 'info')
const { port } = await createService(configSchema.parse(process.env), context)
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()

/** Reports the resident memory, and the delays of the event loop since the previous report. */
process.on('message', () => {
  const figures = {
    residentMiB: process.memoryUsage.rss() / 2 ** 20,
    delayP99Ms: delay.percentile(99) / 1e6,
    delayMaxMs: delay.max / 1e6,
  }
  delay.reset()
  process.send?.(figures)
})
process.once('disconnect', () => process.exit(0))
const isReady = () => fetch(`http://127.0.0.1:${port}/-/readiness`).then(({ ok }) => ok)
while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 50))
process.send?.(port)
