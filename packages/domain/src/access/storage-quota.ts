/**
 * Limits in bytes: for the repository, files and reports of one project, and for all projects of one user.
 */
export interface StorageLimits {
  /** Null: no limit. */
  projectBytesMax: number | null
  /** Null: no limit. */
  ownerBytesMax: number | null
}

/** Bytes that are stored now. */
export interface StoredBytes {
  projectBytes: number
  ownerBytes: number
  /** Bytes of deleted files that are still on the disk. No other field counts them. */
  projectReleasedBytes: number
  ownerReleasedBytes: number
}

const limitOf = (bytes: number) => (bytes === 0 ? null : bytes)

/**
 * Returns the limits of a project. Projects of administrators have only limits of their own.
 *
 * @param own the limit of the project itself; 0: no limit; null: the limit of the installation
 * @param defaults the limits of the installation; 0: no limit
 */
export function storageLimitsOf(
  { own, isOwnedByAdministrator }: { own: number | null; isOwnedByAdministrator: boolean },
  defaults: { projectBytesMax: number; ownerBytesMax: number },
): StorageLimits {
  return {
    projectBytesMax: limitOf(own ?? (isOwnedByAdministrator ? 0 : defaults.projectBytesMax)),
    ownerBytesMax: limitOf(isOwnedByAdministrator ? 0 : defaults.ownerBytesMax),
  }
}

/**
 * Returns the reason why `added` more bytes cannot be stored; null when they fit. A change that adds no byte
 * is never refused. A deleted file frees the quota at once but stays on the disk until housekeeping removes
 * it, so a project stores at most twice its quota.
 */
export function quotaRefusal(
  { projectBytesMax, ownerBytesMax }: StorageLimits,
  { projectBytes, ownerBytes, projectReleasedBytes, ownerReleasedBytes }: StoredBytes,
  added: number,
): string | null {
  const exceeds = (bytes: number, max: number | null, times = 1) =>
    max !== null && added > 0 && bytes + added > times * max
  const left = (released: number) =>
    `there is no room for ${sizeText(added)} more until ${sizeText(released)} of deleted files are removed from the disk, an hour after they were stored`
  if (exceeds(projectBytes, projectBytesMax))
    return `The repository, the LFS objects and the files of this project may take ${sizeText(projectBytesMax)} and take ${sizeText(projectBytes)}; there is no room for ${sizeText(added)} more`
  if (exceeds(ownerBytes, ownerBytesMax))
    return `All projects of the owner of this project may take ${sizeText(ownerBytesMax)} together and take ${sizeText(ownerBytes)}; there is no room for ${sizeText(added)} more`
  if (exceeds(projectBytes + projectReleasedBytes, projectBytesMax, 2))
    return `This project may take ${sizeText(projectBytesMax)}; ${left(projectReleasedBytes)}`
  if (exceeds(ownerBytes + ownerReleasedBytes, ownerBytesMax, 2))
    return `All projects of the owner of this project may take ${sizeText(ownerBytesMax)} together; ${left(ownerReleasedBytes)}`
  return null
}

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Formats a size, such as `1 bytes` or `9.8 MiB`. */
export function sizeText(bytes: number | null): string {
  const size = bytes ?? 0
  const power = size < 1024 ? 0 : Math.min(Math.floor(Math.log2(size) / 10), units.length - 1)
  const value = size / 1024 ** power
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[power]}`
}
