import { fileURLToPath } from 'node:url'
import { listen } from '@switchyard/service-kit/http'
import type { ServiceContext } from '@switchyard/service-kit/lifecycle'
import { createApp } from './app.js'
import type { Config } from './config.js'

/** The folder that `vite build` writes, next to the folder of the bundled service. */
const webFolder = fileURLToPath(new URL('../web/', import.meta.url))
/** The folder that `pack-clients` writes. A service that runs from sources uses the last build. */
const clientsFolder = fileURLToPath(
  new URL(import.meta.url.includes('/dist/bundle/') ? '../clients/' : '../dist/clients/', import.meta.url),
)

/**
 * Serves the files of the web application, and the clients of the other services. It stores no data: the
 * pages call the API of the other services.
 */
export async function createService(config: Config, { logger, metrics, health, lifecycle }: ServiceContext) {
  const app = createApp({ folder: webFolder, clientsFolder, logger, metrics, health })
  const server = await listen(app, config.HOST, config.PORT, config.SHUTDOWN_TIMEOUT_MS)
  lifecycle.onClose('http', () => server.close())
  return { port: server.port }
}
