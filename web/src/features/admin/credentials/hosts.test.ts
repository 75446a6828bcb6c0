import { hostsOf, lineOf, plainHost } from './hosts'

test('each line names a host, and empty lines name none', () => {
  const text = ' api.example.com \n\n*.example.org\n'
  expect(hostsOf(text)).toEqual(['api.example.com', '*.example.org'])
  expect(lineOf(text, 1)).toBe(3)
  expect(hostsOf(' \n')).toEqual([])
})

test.each([
  ['https://api.example.com/v1/{{ input.city }}', 'api.example.com'],
  ['http://API.Example.com:8080', 'api.example.com'],
  ['https://[::1]:7/x', '[::1]'],
  ['https://user@api.example.com/', 'api.example.com'],
  ['https://{{ input.host }}/v1', undefined],
  ['{{ input.url }}', undefined],
  ['/v1', undefined],
  ['', undefined],
  [undefined, undefined],
])('the plain host of %s is %s', (address, host) => {
  expect(plainHost(address)).toBe(host)
})
