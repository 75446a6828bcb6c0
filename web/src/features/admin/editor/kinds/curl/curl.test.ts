import { parseCurl } from './parse'
import { labelsFor, madeOf, proposalOf, withFields } from './proposal'
import { commandsOf, CurlFault } from './shell'

const read = (command: string) => {
  const proposal = proposalOf(parseCurl(command))
  return { ...proposal.request, ...proposal }
}

/** The tool that a command makes, with some values as inputs and every secret by a label. */
const made = (command: string, ticked: string[] = []) => {
  const proposal = proposalOf(parseCurl(command))
  const inputs = new Map(
    proposal.leaves
      .filter(({ isOpen, name }) => isOpen || ticked.includes(name))
      .map(({ id, name }) => [id, name]),
  )
  const references = new Map(proposal.secrets.map(({ id, scheme }) => [id, `${scheme}secret:kept`]))
  return madeOf(proposal, { inputs, references })
}

const why = (command: string) => {
  try {
    return parseCurl(command)
  } catch (error) {
    return error instanceof CurlFault ? error.code : error
  }
}

test('words are told apart as bash does', () => {
  expect(
    commandsOf(`curl 'a b' "c \\"d\\" \\n" $'e\\'\\u00e4\\n' f\\ g \\\n  h'i'"j" # not this`),
  ).toEqual([['curl', 'a b', 'c "d" \\n', "e'ä\n", 'f g', 'hij']])
  expect(commandsOf("curl a | jq '.b' > out.json")).toEqual([
    ['curl', 'a'],
    ['jq', '.b'],
  ])
})

test('GitHub: a token in a header, and a number in the path', () => {
  const command = `curl -L \\
  -H "Accept: application/vnd.github+json" \\
  -H "Authorization: Bearer ghp_1234567890" \\
  -H "X-GitHub-Api-Version: 2022-11-28" \\
  https://api.github.com/repos/octocat/Hello-World/issues/42`
  const { secrets, notes } = read(command)
  expect(notes).toEqual(['redirects'])
  expect(secrets).toMatchObject([
    { shown: 'Authorization', type: 'bearer', payload: { token: 'ghp_1234567890' } },
  ])
  const { implementation, fields } = made(command, ['issue_id'])
  expect(implementation).toEqual({
    method: 'GET',
    url: 'https://api.github.com/repos/octocat/Hello-World/issues/{{ input.issue_id }}',
    headers: {
      Accept: 'application/vnd.github+json',
      'X-GitHub-Api-Version': '2022-11-28',
      Authorization: 'Bearer secret:kept',
    },
  })
  expect(fields).toEqual([{ name: 'issue_id', schema: { type: 'integer', examples: [42] } }])
  expect(JSON.stringify(implementation)).not.toContain('ghp_')
})

test('OpenAI: JSON of several lines, and a variable of the shell that is a secret', () => {
  const command = `curl https://api.openai.com/v1/chat/completions \\
  -H "Content-Type: application/json" \\
  -H "Authorization: Bearer $OPENAI_API_KEY" \\
  -d '{
    "model": "gpt-4o-mini",
    "messages": [{ "role": "user", "content": "Say this is a test!" }],
    "temperature": 0.7
  }'`
  const { leaves, secrets } = read(command)
  expect(secrets).toMatchObject([{ type: 'bearer', payload: undefined }])
  expect(
    leaves.filter(({ place }) => place === 'body').map(({ name, schema }) => [name, schema]),
  ).toEqual([
    ['model', { type: 'string' }],
    ['messages', { type: 'array', items: { type: 'object' } }],
    ['temperature', { type: 'number' }],
  ])
  const { implementation } = made(command, ['model'])
  expect(implementation).toMatchObject({
    method: 'POST',
    body: { model: '{{ input.model }}', temperature: 0.7 },
  })
  // JSON is what the server sends anyway.
  expect(implementation.headers).toEqual({ Authorization: 'Bearer secret:kept' })
})

test('Stripe: a key as the user, and a form', () => {
  const command = `curl https://api.stripe.com/v1/charges -u sk_test_abc: -d amount=2000 -d currency=eur -d "metadata[order]"=7`
  expect(read(command).secrets).toMatchObject([
    { type: 'basic', payload: { username: 'sk_test_abc', password: '' } },
  ])
  expect(made(command, ['amount']).implementation).toEqual({
    method: 'POST',
    url: 'https://api.stripe.com/v1/charges',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Authorization: 'Basic secret:kept',
    },
    body: { amount: '{{ input.amount }}', currency: 'eur', 'metadata[order]': '7' },
  })
})

test('Chrome, copied as cURL (bash): what only a browser sends is left out, cookies are secret', () => {
  const command = `curl 'https://shop.example.com/api/v2/search?q=caf%C3%A9+cr%C3%A8me&page=1' \\
  -H 'accept: */*' \\
  -H 'accept-language: de-AT,de;q=0.9' \\
  -H 'content-type: application/json' \\
  -b 'sid=abc; theme=dark' \\
  -H 'origin: https://shop.example.com' \\
  -H 'priority: u=1, i' \\
  -H 'sec-ch-ua: "Chromium";v="140"' \\
  -H 'user-agent: Mozilla/5.0' \\
  --data-raw $'{"name":"it\\'s","n":12345678901234567890}' \\
  --compressed`
  const { leftOut, secrets, leaves } = read(command)
  expect(leftOut).toContain('sec-ch-ua')
  expect(secrets).toMatchObject([{ shown: 'Cookie', payload: { api_key: 'sid=abc; theme=dark' } }])
  expect(leaves.find(({ name }) => name === 'q')).toMatchObject({ example: 'café crème' })
  expect(made(command, ['q', 'page']).implementation).toEqual({
    method: 'POST',
    url: 'https://shop.example.com/api/v2/search',
    query: { q: '{{ input.q }}', page: '{{ input.page }}' },
    headers: { Cookie: 'secret:kept' },
    body: { name: "it's", n: 12345678901234567890n },
  })
})

test('Firefox: the method stands behind the address', () => {
  const command = `curl 'https://api.example.com/items/9' -X PATCH -H 'User-Agent: Mozilla/5.0' -H 'Content-Type: application/merge-patch+json' --data-raw '{"done":true}'`
  expect(made(command, ['done']).fields).toEqual([
    { name: 'done', schema: { type: 'boolean', examples: [true] } },
  ])
  expect(made(command).implementation.method).toBe('PATCH')
})

test('a weather service: a key in the query, and -G with encoded data', () => {
  const command = `curl -sG https://api.openweathermap.org/data/2.5/weather --data-urlencode "q=São Paulo,BR" -d units=metric -d appid=0123456789abcdef`
  const { secrets, method } = read(command)
  expect(method).toBe('GET')
  expect(secrets).toMatchObject([{ place: 'query', shown: 'appid' }])
  expect(made(command, ['q']).implementation).toEqual({
    method: 'GET',
    url: 'https://api.openweathermap.org/data/2.5/weather',
    query: { q: '{{ input.q }}', units: 'metric', appid: 'secret:kept' },
  })
})

test('--json, --url, and a filter behind a pipe', () => {
  const command = `curl --json '{"ids":[1,2]}' --url https://api.example.com/batch -sS | jq -r '.items[0]'`
  expect(made(command, ['ids'])).toEqual({
    implementation: {
      method: 'POST',
      url: 'https://api.example.com/batch',
      body: { ids: '{{ input.ids }}' },
      response: '.items[0]',
    },
    fields: [
      {
        name: 'ids',
        schema: { type: 'array', items: { type: 'integer' }, examples: [[1, 2]] },
      },
    ],
  })
})

test('variables of the shell are inputs, also inside of a text and as a bare number', () => {
  const command = `curl -XPOST "https://api.example.com/v1/users/\${USER_ID}/notes" -H "X-Tenant: t-$TENANT" -H 'content-type: application/json' -d "{\\"text\\": \\"Hi $NAME\\", \\"stars\\": $STARS}"`
  const { implementation, fields } = made(command)
  expect(implementation).toEqual({
    method: 'POST',
    url: 'https://api.example.com/v1/users/{{ input.USER_ID }}/notes',
    headers: { 'X-Tenant': 't-{{ input.TENANT }}' },
    body: { text: 'Hi {{ input.NAME }}', stars: '{{ input.STARS }}' },
  })
  expect(fields.map(({ name }) => name)).toEqual(['USER_ID', 'TENANT', 'NAME', 'STARS'])
})

test('a place in braces is an input', () => {
  expect(made('curl https://api.example.com/users/{userId}/posts/:post').implementation.url).toBe(
    'https://api.example.com/users/{{ input.userId }}/posts/{{ input.post }}',
  )
})

test('short options in one word, a value without a space, an address without a scheme', () => {
  expect(
    read('curl -sSLXDELETE -H"X-A: 1" -m5 -o /dev/null example.com:8080/a?b=1&c'),
  ).toMatchObject({
    method: 'DELETE',
    origin: 'http://example.com:8080',
    path: ['a'],
    // Bash would end the command at the &; whoever forgot the quotes meant the address.
    query: [
      ['b', '1'],
      ['c', ''],
    ],
    headers: [['X-A', '1']],
  })
})

test('a JSON body whose type was forgotten, a text, and a password in the address', () => {
  expect(read(`curl https://a.example/x -d '{"a":1}'`).body).toEqual({
    as: 'json',
    value: { a: 1 },
  })
  expect(
    read(`curl https://a.example/x -H 'Content-Type: text/xml' --data-binary '<a>1</a>'`),
  ).toMatchObject({
    body: { as: 'text', text: '<a>1</a>' },
    headers: [['Content-Type', 'text/xml']],
  })
  expect(read('curl https://ada:p%40ss@a.example/').secrets).toMatchObject([
    { payload: { username: 'ada', password: 'p@ss' } },
  ])
})

test.each([
  ['wget https://example.com', 'not_curl'],
  ['', 'not_curl'],
  ['curl -s', 'no_url'],
  ['curl https://a.example https://b.example', 'many_urls'],
  ["curl https://a.example -d 'x", 'unclosed'],
  ['curl https://a.example -H "A: $(date)"', 'substitution'],
  ['curl https://a.example -d @file.json', 'file'],
  ['curl https://a.example -F file=@cat.png', 'refused_form'],
  ['curl https://a.example -T file', 'refused_upload-file'],
  ['curl https://a.example -b cookies.txt', 'file'],
  ['curl -X', 'no_value'],
  ['curl -X PROPFIND https://a.example', 'method'],
  ['curl ftp://a.example/x', 'scheme'],
  ['curl "https://$HOST/x"', 'host'],
  ['curl "https://{{base}}/x"', 'host'],
  ['curl "https://a.example/{{id}}"', 'braces'],
  ["curl https://a.example -H 'content-type: application/json' -d '{'", 'json'],
  ['curl ^"https://a.example^"', 'windows'],
])('%s is refused: %s', (command, code) => {
  expect(why(command)).toBe(code)
})

test('inputs are added to a schema, and what is described already stays', () => {
  const schema = { type: 'object', properties: { q: { type: 'string', title: 'Search' } } }
  const fields = ['q', 'page'].map((name) => ({ name, schema: { type: 'integer' } }))
  expect(withFields(schema, fields)).toEqual({
    type: 'object',
    properties: { q: { type: 'string', title: 'Search' }, page: { type: 'integer' } },
    required: ['page'],
  })
})

test('a credential is called by its host', () => {
  expect(labelsFor('https://api.github.com', 1, [])).toEqual(['github'])
  expect(labelsFor('https://api.github.com', 2, ['github'])).toEqual(['github-2', 'github-3'])
  expect(labelsFor('http://localhost:8080', 1, [])).toEqual(['localhost'])
  expect(labelsFor('http://127.0.0.1:8080', 1, [])).toEqual(['api'])
})
