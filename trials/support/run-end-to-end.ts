import { resolve } from 'node:path'
import { execa } from 'execa'

/** An empty, running installation. */
interface Empty {
  url: string
  grpcAddress: string
  /** Token of the administrator. */
  rootToken: string
  /** Address under which the installation reaches servers of the tests; unset: the loopback address. */
  ownAddress?: string
}

/**
 * Runs a file of the end-to-end tests against an installation.
 *
 * @returns whether a test failed, and the output
 */
export async function runEndToEnd(
  file: string,
  { url, grpcAddress, rootToken, ownAddress }: Empty,
): Promise<{ failed: boolean; all: string }> {
  const { failed, all } = await execa('vitest', ['run', '--project', 'end-to-end', file], {
    cwd: resolve(import.meta.dirname, '../..'),
    preferLocal: true,
    reject: false,
    all: true,
    env: {
      SWITCHYARD_E2E_URL: url,
      SWITCHYARD_E2E_GRPC_ADDRESS: grpcAddress,
      SWITCHYARD_E2E_ROOT_TOKEN: rootToken,
      SWITCHYARD_E2E_OWN_ADDRESS: ownAddress,
      NO_COLOR: '1',
    },
  })
  return { failed, all }
}
