import type { ChildKind } from './git-child.js'

/**
 * The kind of child that answers the questions `contents NAME` and `info NAME`. The end mark has two dots,
 * which no reference name may have, so git looks up no reference for it.
 */
export const objectChild: ChildKind = {
  name: 'cat-file',
  readsOnly: true,
  command: { command: 'cat-file', flags: ['--batch-command'] },
  endMark: (nonce) => ({ sent: `info ..${nonce}\n`, echoed: `..${nonce} missing\n` }),
}

/**
 * The kind of child that executes `start`, updates and `commit`, each ended by a NUL. It exits with the
 * reason on stderr when it refuses an update.
 */
export const updateRefChild: ChildKind = {
  name: 'update-ref',
  readsOnly: false,
  command: { command: 'update-ref', flags: ['--stdin', '-z'] },
  endMark: () => ({ sent: 'start\0abort\0', echoed: 'start: ok\nabort: ok\n' }),
}
