import { join, relative } from 'node:path'
import pc from 'picocolors'
import type { Settings } from './settings.js'

/** Quotes a path for a command of the shell. */
const quoted = (path: string) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)

/** Returns the summary for the terminal: addresses, files, and three commands to try. */
export function formatSummary(settings: Settings, readyAfterMs: number): string {
  const { externalUrl, grpcPort, dataDir, release } = settings
  const shown = (path: string) => {
    const short = relative(process.cwd(), path)
    return short.startsWith('..') ? path : short
  }
  const tokenFile = shown(join(dataDir, 'root-token'))
  const gitUrl = externalUrl.replace('://', `://root:$(cat ${quoted(tokenFile)})@`)
  const grpcVariable = grpcPort === 50051 ? '' : `GRPC_PORT=${grpcPort} `
  const row = (label: string, value: string) => `  ${pc.dim(label.padEnd(8))} ${value}`
  return [
    '',
    `  ${pc.bold(pc.green('Switchyard is ready'))} ${pc.dim(`in ${(readyAfterMs / 1000).toFixed(1)} s`)}`,
    '',
    row('Console', pc.cyan(`${externalUrl}/console/`)),
    row('HTTP', pc.cyan(externalUrl)),
    row('gRPC', pc.cyan(`localhost:${grpcPort}`)),
    row('Token', `${tokenFile}  ${pc.dim('of the administrator root')}`),
    row('Data', shown(dataDir)),
    row('Logs', shown(join(dataDir, 'logs'))),
    '',
    `  ${pc.dim('Try:')}`,
    `  curl -H "PRIVATE-TOKEN: $(cat ${quoted(tokenFile)})" ${externalUrl}/api/v4/projects -d name=demo`,
    `  git clone "${gitUrl}/root/demo.git"`,
    `  ${grpcVariable}${release ? 'switchyard report-saga' : 'node ops/report-saga.mjs'} booking-1`,
    '',
    `  ${pc.dim('Ctrl-C stops everything.')}`,
    '',
    '',
  ].join('\n')
}
