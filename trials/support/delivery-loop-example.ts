import { join } from 'node:path'
import { execa } from 'execa'
import type { Tree } from './tree.js'

const root = join(import.meta.dirname, '../..')

/** Runs examples/delivery-loop against a tree, as its README describes. */
export const runExample = (
  tree: Pick<Tree, 'url' | 'grpcAddress' | 'rootToken'>,
  args: string[] = [],
  env: Record<string, string> = {},
) =>
  execa('node', ['--import', 'tsx', 'examples/delivery-loop/src/main.ts', ...args], {
    all: true,
    cwd: root,
    reject: false,
    env: {
      SWITCHYARD_URL: tree.url,
      SWITCHYARD_TOKEN: tree.rootToken,
      SAGA_ADDRESS: tree.grpcAddress,
      ...env,
    },
  })
