/** The part of a path behind its last slash; the name of a quoted path is quoted, too. */
export function baseName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return path.startsWith('"') && path.endsWith('"') && path.includes('/') && path.includes('\\')
    ? `"${name}`
    : name
}
