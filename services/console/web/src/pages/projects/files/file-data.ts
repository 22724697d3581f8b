import { queryOptions } from '@tanstack/react-query'
import { addressOf, get, segment } from '../../../api/client'
import type { Blame, Commit, File, TreeEntry } from '../../../generated/types.gen'

/** Every entry of a folder. */
export const treeQuery = (project: string, ref: string, path: string) =>
  queryOptions({
    queryKey: [project, 'tree', ref, path],
    queryFn: ({ signal }) =>
      get<TreeEntry[]>(`${project}/repository/tree`, { ref, path, pagination: 'none' }, signal),
    staleTime: 10_000,
  })

export const fileQuery = (project: string, ref: string, path: string) =>
  queryOptions({
    queryKey: [project, 'file', ref, path],
    queryFn: async ({ signal }) =>
      readFile(await get<File>(`${project}/repository/files/${segment(path)}`, { ref }, signal)),
    staleTime: 10_000,
  })

export const blameQuery = (project: string, ref: string, path: string) =>
  queryOptions({
    queryKey: [project, 'blame', ref, path],
    queryFn: ({ signal }) =>
      get<Blame[]>(`${project}/repository/files/${segment(path)}/blame`, { ref }, signal),
    staleTime: 10_000,
  })

/** The newest commit that changed a file or folder. */
export const lastCommitQuery = (project: string, ref: string, path: string) =>
  queryOptions({
    queryKey: [project, 'last-commit', ref, path],
    queryFn: async ({ signal }) =>
      (
        await get<Commit[]>(
          `${project}/repository/commits`,
          { ref_name: ref, path: path || undefined, per_page: 1 },
          signal,
        )
      )[0] ?? null,
    staleTime: 10_000,
  })

export const rawAddress = (project: string, ref: string, path: string) =>
  addressOf(`${project}/repository/files/${segment(path)}/raw`, { ref })

export interface ReadFile {
  file: File
  /** Null for a binary file. */
  text: string | null
  isUtf8: boolean
}

function readFile(file: File): ReadFile {
  const bytes = Uint8Array.from(atob(file.content), (character) => character.charCodeAt(0))
  if (bytes.subarray(0, 8000).includes(0)) return { file, text: null, isUtf8: false }
  try {
    return {
      file,
      text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
      isUtf8: true,
    }
  } catch {
    return { file, text: new TextDecoder('windows-1252').decode(bytes), isUtf8: false }
  }
}

/** Splits a path: `a/b/c` ⇒ [`a/b`, `c`]. */
export function splitPath(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf('/')
  return [path.slice(0, Math.max(0, at)), path.slice(at + 1)]
}
