'use client'
import { Tabs } from '@mantine/core'
import { CodeBlock } from '@/app/_ui/code-block'
import { CopyButton } from '@/app/_ui/copy-button'
import styles from '../settings.module.css'

/** How a backend signs a token. Both libraries put the secret's id in the header as `kid`. */
export function MintingSnippets({ audience }: { audience: string }) {
  return (
    <section className={styles.section} aria-labelledby="minting">
      <h2 id="minting">Sign a token</h2>
      <p>
        HS256, with the secret’s id as <code>kid</code>. Let tokens expire after an hour or less; more than 24 hours is
        refused. The audience is <span className="mono">{audience}</span>
        <CopyButton text={audience} label="Copy the audience" />
      </p>
      <Tabs defaultValue="jose">
        <Tabs.List>
          <Tabs.Tab value="jose">jose</Tabs.Tab>
          <Tabs.Tab value="jsonwebtoken">jsonwebtoken</Tabs.Tab>
          <Tabs.Tab value="call">Call the API with it</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="jose" pt="sm">
          <CodeBlock label="snippet for jose" text={jose(audience)} />
        </Tabs.Panel>
        <Tabs.Panel value="jsonwebtoken" pt="sm">
          <CodeBlock label="snippet for jsonwebtoken" text={jsonwebtoken(audience)} />
        </Tabs.Panel>
        <Tabs.Panel value="call" pt="sm">
          <CodeBlock label="snippet of a call" text={CALL} />
        </Tabs.Panel>
      </Tabs>
    </section>
  )
}

function jose(audience: string): string {
  return `import { SignJWT } from 'jose'

const token = await new SignJWT({ context: { name: 'Ada', email: 'ada@example.com' } })
  .setProtectedHeader({ alg: 'HS256', kid: process.env.JWT_KEY_ID })
  .setSubject('user_123')
  .setAudience(${quoted(audience)})
  .setIssuedAt()
  .setExpirationTime('1h')
  .sign(new TextEncoder().encode(process.env.JWT_SECRET))`
}

function jsonwebtoken(audience: string): string {
  return `import jwt from 'jsonwebtoken'

const token = jwt.sign({ context: { name: 'Ada', email: 'ada@example.com' } }, process.env.JWT_SECRET, {
  algorithm: 'HS256',
  keyid: process.env.JWT_KEY_ID,
  subject: 'user_123',
  audience: ${quoted(audience)},
  expiresIn: '1h',
})`
}

/** Quotes a text in the snippet's style. */
function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

const CALL = `await fetch(\`\${BASE_URL}/api/workflow/start-async/wf_hello\`, {
  method: 'POST',
  headers: { authorization: \`Bearer \${token}\`, 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'Ada' }),
})`
