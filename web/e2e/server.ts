import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The program under test: `cargo xtask browse` builds it and says where it is. */
const PROGRAM = process.env.TW_E2E_SERVER ?? '../target/debug/toolwright'

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
  /** What the first start prints: the link to sign in with, and an admin's key. */
  link = ''
  key = ''

  static async start(env: Environment = {}): Promise<Server> {
    const folder = await mkdtemp(join(tmpdir(), 'tw-e2e-'))
    const server = new Server(folder, await freePort(), env)
    const said = await server.up()
    server.link = /^sign in: (.*)$/m.exec(said)?.[1] ?? ''
    server.key = /^api key: (.*)$/m.exec(said)?.[1] ?? ''
    return server
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
    return new Promise((done, fail) => {
      const hear = (text: Buffer) => {
        said += text.toString()
        if (said.includes('listening on')) done(said)
      }
      program.stdout.on('data', hear)
      program.stderr.on('data', hear)
      program.on('error', fail)
      program.on('exit', (code) => fail(new Error(`the server ended with ${code}: ${said}`)))
    })
  }

  /** Ends the program as a terminal would, or at once with `SIGKILL`. */
  down(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const process = this.process
    if (!process || process.exitCode !== null) return Promise.resolve()
    return new Promise((done) => {
      process.on('exit', () => done())
      process.kill(signal)
    })
  }

  async end(): Promise<void> {
    await this.down('SIGKILL')
    await rm(this.folder, { recursive: true, force: true })
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
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
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

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer()
    probe.on('error', fail)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address ? address.port : 0
      probe.close(() => done(port))
    })
  })
}
