import type { ChildKind } from './git-child.js'

/** How a commit is compared with its first parent, or with nothing when it is a root. */
const comparison = ['--stdin', '-r', '-M', '--root', '--diff-merges=first-parent', '--always']

/** `diff-tree` repeats, and flushes, a line that names no object. */
const repeated = (nonce: string) => ({ sent: `${nonce}\n`, echoed: `${nonce}\n` })

export const numstatChild: ChildKind = {
  name: 'diff-tree --numstat',
  readsOnly: true,
  command: { command: 'diff-tree', flags: [...comparison, '--numstat'] },
  endMark: repeated,
}

export const patchChild: ChildKind = {
  name: 'diff-tree --patch',
  readsOnly: true,
  command: {
    command: 'diff-tree',
    flags: [
      ...comparison,
      ...['-z', '--raw', '--patch', '--no-color', '--no-ext-diff', '--no-textconv', '--full-index'],
    ],
  },
  endMark: repeated,
}

/** What the former says without patches, and without reading a file: of renames only those that changed nothing. */
export const namesChild: ChildKind = {
  name: 'diff-tree --raw',
  readsOnly: true,
  command: { command: 'diff-tree', flags: [...comparison, '-M100%', '-z', '--raw', '--full-index'] },
  endMark: repeated,
}

/** Takes `contents NAME` and `info NAME`. No reference can have two dots, so git does not even look for one. */
export const objectChild: ChildKind = {
  name: 'cat-file',
  readsOnly: true,
  command: { command: 'cat-file', flags: ['--batch-command'] },
  endMark: (nonce) => ({ sent: `info ..${nonce}\n`, echoed: `..${nonce} missing\n` }),
}

/** Takes `start`, updates and `commit`, each ended by a NUL; ends itself with a reason when it refuses. */
export const updateRefChild: ChildKind = {
  name: 'update-ref',
  readsOnly: false,
  command: { command: 'update-ref', flags: ['--stdin', '-z'] },
  endMark: () => ({ sent: 'start\0abort\0', echoed: 'start: ok\nabort: ok\n' }),
}
