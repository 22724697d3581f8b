/**
 * Most bytes that the repository, the files and the reports of a project, and those of all projects of a
 * user, may take.
 */
export interface StorageLimits {
  /** Null: no limit. */
  projectBytesMax: number | null
  /** Null: no limit. */
  ownerBytesMax: number | null
}

/** What is stored now, in bytes. */
export interface StoredBytes {
  projectBytes: number
  ownerBytes: number
  /** Of deleted files that the disk still has; they are in no other number. */
  projectReleasedBytes: number
  ownerReleasedBytes: number
}

const limitOf = (bytes: number) => (bytes === 0 ? null : bytes)

/**
 * The limits of a project. The projects of administrators have none but their own.
 *
 * @param own the limit of the project itself; 0: none; null: that of the installation
 * @param defaults the limits of the installation; 0: none
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
 * The reason why `added` more bytes cannot be stored; null when they fit. Nothing that adds no byte is
 * refused. Deleted files free their quota at once and stay on the disk until housekeeping removes them:
 * together with them, at most twice the quota is stored.
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

/** `1 bytes`, `9.8 MiB` */
export function sizeText(bytes: number | null): string {
  const size = bytes ?? 0
  const power = size < 1024 ? 0 : Math.min(Math.floor(Math.log2(size) / 10), units.length - 1)
  const value = size / 1024 ** power
  return `${Number.isInteger(value) ? value : value.toFixed(1)} ${units[power]}`
}
