/** How a program of one's own fetches the calls of a tool and answers them. */
export function workerSnippet(origin: string, slug: string): string {
  const tools = encodeURIComponent(slug || 'slug')
  return `# Calls come as they are made: event tool.call, data { call_id, run_id, input, … }
curl -N "${origin}/api/workers/stream?tools=${tools}" \\
  -H "Authorization: Bearer $TOOLWRIGHT_KEY"

# Answer each with its result, or with { "call_id": …, "error": "why not" }
curl "${origin}/api/runs/$RUN_ID/tool-results" \\
  -H "Authorization: Bearer $TOOLWRIGHT_KEY" -H "Content-Type: application/json" \\
  -d '{ "call_id": "'$CALL_ID'", "result": {} }'`
}
