import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The program under test: `cargo xtask browse` builds it and says where it is. */
const PROGRAM = process.env.TW_E2E_SERVER ?? '../target/debug/toolwright'

/** A connection that was kept may be of a server that has ended since: every request has its own. */
const HEADERS = { 'content-type': 'application/json', connection: 'close' }

/** Settings beside those that every test has. */
export type Environment = Record<string, string>

/** A real server on its own folder and port, as `make run` starts it. */
export class Server {
  private constructor(
    private readonly folder: string,
    private readonly port: number,
    private readonly env: Environment,
  ) {}

  private process?: ChildProcess
  private logged = ''
  /** What the first start prints: the link to sign in with, and an admin's key. */
  link = ''
  key = ''

  static async start(env: Environment = {}): Promise<Server> {
    const folder = await mkdtemp(join(tmpdir(), 'tw-e2e-'))
    const { server, said } = await Server.onFreePort(folder, env)
    server.link = lineOf(said, 'sign in')
    server.key = lineOf(said, 'api key')
    return server
  }

  /** Somebody else may take a port between the look at it and its use, and then it is another one's turn. */
  private static async onFreePort(folder: string, env: Environment) {
    for (let tries = 1; ; tries++) {
      const server = new Server(folder, await freePort(), env)
      try {
        return { server, said: await server.up() }
      } catch (error) {
        if (!(error instanceof PortTaken) || tries === 10) throw error
      }
    }
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Starts the program on the same folder and port; resolves to what it printed until it listened. */
  up(): Promise<string> {
    const args = ['serve', '--data-dir', this.folder, '--listen', `127.0.0.1:${this.port}`]
    const env = { ...process.env, ...this.env }
    const program = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    this.process = program
    let said = ''
    this.logged = ''
    return new Promise((done, fail) => {
      // The log goes its own way, and must not come between the lines of the greeting.
      program.stderr.setEncoding('utf8').on('data', (text: string) => {
        this.logged += text
      })
      program.stdout.setEncoding('utf8').on('data', (text: string) => {
        said += text
        // The last line, once it is here as a whole: what comes in parts may end in the middle of it.
        if (/^listening on .*\n/m.test(said)) done(said)
      })
      program.on('error', fail)
      program.on('close', (code) => {
        const why = `the server ended with ${code}: ${said}${this.logged}`
        fail(this.logged.includes('Address already in use') ? new PortTaken(why) : new Error(why))
      })
    })
  }

  /** What the server has found worth a warning since this was last asked. */
  warnings(): string[] {
    const lines = this.logged.split('\n')
    this.logged = ''
    return lines.filter((line) => /\b(WARN|ERROR)\b/.test(line))
  }

  /** Ends the program as a terminal would, or at once with `SIGKILL`. */
  down(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const process = this.process
    const isOver = !process || process.exitCode !== null || process.signalCode !== null
    if (isOver) return Promise.resolve()
    return new Promise((done) => {
      process.on('exit', () => done())
      process.kill(signal)
    })
  }

  async end(): Promise<void> {
    await this.down('SIGKILL')
    await rm(this.folder, { recursive: true, force: true, maxRetries: 10 })
  }

  /** A command of an operator, on the database itself; resolves to what it printed. */
  async command(...args: string[]): Promise<string> {
    const { stdout } = await run(PROGRAM, [...args, '--data-dir', this.folder])
    return stdout.trim()
  }

  /** A key of an agent. */
  agentKey(slug = 'bot'): Promise<string> {
    const role = ['--role', 'agent', '--acts-as', 'agent', '--agent', slug]
    return this.command('keys', 'create', '--tenant', 'demo', ...role)
  }

  /** Asks the API by key, the admin's unless another is given. */
  async api<T = any>(method: string, path: string, body?: unknown, key = this.key): Promise<T> {
    const answer = await fetch(this.url + path, {
      method,
      headers: { ...HEADERS, authorization: `Bearer ${key}` },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text || 'null')
  }

  /** Makes and publishes a tool that gives back its input. */
  echo(slug: string, definition: Record<string, unknown> = {}): Promise<unknown> {
    return this.api('POST', '/api/tools', {
      slug,
      name: slug,
      description: 'Gives back its input.',
      implementation_type: 'internal',
      input_schema: { type: 'object', properties: { text: { type: 'string' } } },
      publish: true,
      ...definition,
    })
  }
}

class PortTaken extends Error {}

/** What the greeting says in the line that begins so. */
function lineOf(said: string, name: string): string {
  const found = new RegExp(`^${name}: (.+)$`, 'm').exec(said)?.[1]
  if (!found) throw new Error(`the server did not say its ${name}: ${said}`)
  return found
}

/** Below those that systems give to outgoing connections, of which browsers make many; each worker has its own. */
const LOWEST_PORT = 20_000
const PORTS_OF_WORKER = 1_500
const WORKERS = 8

/** A port that nobody else takes while the server is down for a moment. */
async function freePort(): Promise<number> {
  const worker = Number(process.env.VITEST_POOL_ID ?? 0) % WORKERS
  for (;;) {
    const place = Math.floor(Math.random() * PORTS_OF_WORKER)
    const port = LOWEST_PORT + worker * PORTS_OF_WORKER + place
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer()
    probe.on('error', () => done(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(true)))
  })
}
