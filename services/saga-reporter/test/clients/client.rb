# Reads calls as JSON from standard input, makes them in sequence with ruby-grpc, and prints how each ended.
require 'base64'
require 'grpc'
require 'json'

given = JSON.parse($stdin.read)
stub = GRPC::ClientStub.new(given['target'], :this_channel_is_insecure)
same = ->(data) { data }

def metadata_of(call)
  (call['metadata'] || []).group_by(&:first).transform_values do |pairs|
    values = pairs.map(&:last)
    values.length == 1 ? values.first : values
  end
end

results = given['calls'].map do |call|
  request = Base64.decode64(call['request'] || '')
  deadline = call['timeout'] && Time.now + call['timeout']
  options = { deadline: deadline, metadata: metadata_of(call) }
  responses = []
  code, details, trailers = 'OK', '', []
  begin
    if call.fetch('kind', 'unary') == 'unary'
      responses << stub.request_response(call['path'], request, same, same, **options)
    else
      operation = stub.server_streamer(call['path'], request, same, same, return_op: true, **options)
      operation.execute.each do |response|
        responses << response
        break if responses.length == call['take']
      end
      operation.cancel
    end
  rescue GRPC::BadStatus => e
    code = GRPC::Core::StatusCodes.constants.find { |name| GRPC::Core::StatusCodes.const_get(name) == e.code }
    details, trailers = e.details, e.metadata.keys
  end
  { code: code, details: details, responses: responses.map { |bytes| Base64.strict_encode64(bytes) }, trailers: trailers }
end
puts JSON.generate(results)
