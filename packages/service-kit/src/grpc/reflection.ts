import { BinaryReader } from '@bufbuild/protobuf/wire'
import type { PackageDefinition } from '@grpc/proto-loader'
import { ReflectionService } from '@grpc/reflection'

/**
 * Reflection, v1 and v1alpha, of the files as they were compiled. The library's own loader makes one file of
 * those that share a package and drops what they import, which strict clients refuse.
 *
 * @param descriptorSet a serialized `google.protobuf.FileDescriptorSet` that holds all that its files import
 */
export function createReflection(descriptorSet: Uint8Array): ReflectionService {
  // The library gathers the files of all definitions and looks at nothing else of them, so one is enough.
  const definitions: PackageDefinition = {
    files: {
      format: 'Protocol Buffer 3 EnumDescriptorProto',
      type: {},
      fileDescriptorProtos: filesOf(descriptorSet),
    },
  }
  return new ReflectionService(definitions)
}

/** `FileDescriptorSet.file`, the only field it has. */
const fileField = 1

function filesOf(descriptorSet: Uint8Array): Buffer[] {
  const reader = new BinaryReader(descriptorSet)
  const files: Buffer[] = []
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag()
    if (field === fileField) files.push(Buffer.from(reader.bytes()))
    else reader.skip(wireType)
  }
  return files
}
