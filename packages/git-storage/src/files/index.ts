export { type ArchiveFormat, writeArchive } from './archive.js'
export { blameFile } from './blame.js'
export {
  type ByteRange,
  findBlob,
  hashBlob,
  readBlob,
  readStart,
  type StoredBlob,
  writeBlob,
} from './blobs.js'
export { readFile } from './read-file.js'
export { type FileQuery, type FoundLines, readFirstLines, searchFiles } from './search-files.js'
export { type FolderEntry, findFile, hasEntry, listFolder } from './trees.js'
