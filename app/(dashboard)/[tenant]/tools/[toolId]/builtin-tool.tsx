'use client'
import { Tabs, Text } from '@mantine/core'
import { CodeBlock } from '@/app/_ui/code-block'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useUrlState } from '@/app/_ui/use-url-state'
import { pretty } from '../../_versioned/json'
import styles from '../../_versioned/versioned.module.css'
import { useTenant } from '../../tenant-context'
import { KindMark } from '../tool-kind'
import { TestTab } from './test-tab'
import type { Tool } from './tool-form'

/** A built-in tool, which can be viewed and tested but not changed. */
export function BuiltinTool({ tool }: { tool: Tool }) {
  const url = useUrlState()
  const { path } = useTenant()
  const tab = url.get('tab') === 'test' ? 'test' : 'about'
  return (
    <>
      <PageHeader
        title={tool.name}
        back={{ href: path('/tools'), label: 'Tools' }}
        meta={<KindMark kind="builtin" />}
      />
      <PageBody>
        <Tabs value={tab} onChange={(next) => url.set({ tab: next === 'about' ? null : next })} keepMounted={false}>
          <Tabs.List mb="lg">
            <Tabs.Tab value="about">About</Tabs.Tab>
            <Tabs.Tab value="test">Test</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="about">
            <div className={styles.form}>
              <section className={styles.group} aria-labelledby="about-tool">
                <h2 id="about-tool">What it does</h2>
                <Text>{tool.description}</Text>
                <Text size="sm" c="dimmed">
                  This tool is built in and cannot be changed. Steps and agents call it by its id,{' '}
                  <span className="mono">{tool.id}</span>.
                </Text>
              </section>
              {tool.inputSchema && (
                <section className={styles.group} aria-labelledby="about-arguments">
                  <h2 id="about-arguments">Arguments</h2>
                  <CodeBlock text={pretty(tool.inputSchema)} label="Schema of the arguments" wrap />
                </section>
              )}
            </div>
          </Tabs.Panel>
          <Tabs.Panel value="test">
            <TestTab tool={tool} onScreen={null} />
          </Tabs.Panel>
        </Tabs>
      </PageBody>
    </>
  )
}
