import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { loadSync, type PackageDefinition } from '@grpc/proto-loader'
import { ReflectionService } from '@grpc/reflection'
import { protoPath as healthProto } from 'grpc-health-check'

/** A service that is also served under a second name, in another package. */
export interface ServiceAlias {
  /** The file that declares the service, e.g. `saga.proto`. */
  file: string
  /** The package of the second name, e.g. `pole.Sagas.Server.Grpc`. */
  package: string
}

/**
 * Creates reflection, v1 and v1alpha, of all services: the given files as compiled, aliases, health, and
 * reflection itself. The library's own loader would merge files of one package and drop their imports, which
 * strict clients refuse, so it loads only files without imports.
 *
 * @param descriptorSet a serialized `google.protobuf.FileDescriptorSet` with all imports of its files
 */
export function createReflection(
  descriptorSet: Uint8Array,
  aliases: readonly ServiceAlias[],
): ReflectionService {
  const { file: files } = fromBinary(FileDescriptorSetSchema, descriptorSet)
  const aliasFiles = aliases.map((alias) => {
    const { service, syntax } = files.find(({ name }) => name === alias.file) ?? {}
    if (!service) throw new Error(`the descriptors lack ${alias.file}`)
    return create(FileDescriptorProtoSchema, {
      name: `${alias.package.replaceAll('.', '/')}/${alias.file}`,
      package: alias.package,
      dependency: [alias.file],
      service,
      syntax,
    })
  })
  const own: PackageDefinition = {
    files: {
      format: 'Protocol Buffer 3 EnumDescriptorProto',
      type: {},
      fileDescriptorProtos: [...files, ...aliasFiles].map((file) =>
        Buffer.from(toBinary(FileDescriptorProtoSchema, file)),
      ),
    },
  }
  return new ReflectionService(Object.assign(own, ...[healthProto, ...reflectionProtos()].map(loadFile)))
}

const loadFile = (path: string): PackageDefinition => loadSync(path)

function reflectionProtos(): string[] {
  const folder = join(dirname(createRequire(import.meta.url).resolve('@grpc/reflection')), '../proto')
  return ['v1', 'v1alpha'].map((version) => join(folder, 'grpc/reflection', version, 'reflection.proto'))
}
