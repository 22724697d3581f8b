export {
  findLfsObject,
  largestFile,
  listLfsObjects,
  removeStaleUploads,
  renewLfsObject,
  storeFile,
  storeLfsObject,
  writeLfsObject,
} from './lfs-objects.js'
