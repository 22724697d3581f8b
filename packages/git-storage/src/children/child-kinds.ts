import type { ChildKind } from './git-child.js'

/** Flags that compare a commit with its first parent, and a root commit with the empty tree. */
const comparison = ['--stdin', '-r', '-M', '--root', '--diff-merges=first-parent', '--always']

/** `diff-tree` prints a line that names no object unchanged, and flushes its output. */
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

/** The list of changed files with the numbers of lines that were added and removed in each, without patches. */
export const changesChild: ChildKind = {
  name: 'diff-tree --raw --numstat',
  readsOnly: true,
  command: { command: 'diff-tree', flags: [...comparison, '-z', '--raw', '--numstat', '--full-index'] },
  endMark: repeated,
}

/** The list of changed files without patches. It reads no file, so it finds only renames that keep the content. */
export const namesChild: ChildKind = {
  name: 'diff-tree --raw',
  readsOnly: true,
  command: { command: 'diff-tree', flags: [...comparison, '-M100%', '-z', '--raw', '--full-index'] },
  endMark: repeated,
}

/**
 * Accepts the questions `contents NAME` and `info NAME`. The end mark has two dots, which no reference name may have, so git
 * looks up no reference for it.
 */
export const objectChild: ChildKind = {
  name: 'cat-file',
  readsOnly: true,
  command: { command: 'cat-file', flags: ['--batch-command'] },
  endMark: (nonce) => ({ sent: `info ..${nonce}\n`, echoed: `..${nonce} missing\n` }),
}

/** Accepts `start`, updates and `commit`, each ended by a NUL. It exits with the reason on stderr when it refuses an update. */
export const updateRefChild: ChildKind = {
  name: 'update-ref',
  readsOnly: false,
  command: { command: 'update-ref', flags: ['--stdin', '-z'] },
  endMark: () => ({ sent: 'start\0abort\0', echoed: 'start: ok\nabort: ok\n' }),
}
