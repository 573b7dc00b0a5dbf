import { and, eq } from 'drizzle-orm'
import { members, users } from '@/db/schema/members'
import { tenants } from '@/db/schema/tenants'
import type { ServiceContext } from '../context'
import { env } from '../env'
import { serviceOrigin } from '../http/origin'
import { escaped, paragraph } from '../mail/html'
import { sendMail } from '../mail/send'
import { oneLine } from '../mail/text'
import type { EndpointRow } from './find'

/**
 * Notifies the workspace's owners by mail, if configured, that a webhook gets no more messages. The settings and the
 * audit log show it too, so a failed mail is not retried.
 */
export async function mailOwners(ctx: ServiceContext, endpoint: EndpointRow, gone: boolean): Promise<void> {
  if (!env().SMTP_URL) return
  const owners = await ctx.db
    .select({ to: users.email, workspace: tenants.name, slug: tenants.slug })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .innerJoin(tenants, eq(tenants.id, members.tenantId))
    .where(and(eq(members.tenantId, ctx.tenantId), eq(members.role, 'owner')))
  const sent = owners.map(({ to, workspace, slug }) => {
    // The path and query of the address may be a secret.
    const { host } = new URL(endpoint.url)
    const why = gone ? 'it says that it is gone (410)' : 'every attempt has failed for five days'
    const settings = `${serviceOrigin()}/${slug}/settings/webhooks`
    const text = [
      `A webhook of ${oneLine(workspace)} is disabled: ${host} gets no more messages, because ${why}.`,
      'Messages that wait are sent if you enable it again within 30 days; new ones are not written meanwhile.',
    ]
    return sendMail({
      id: `${endpoint.id}.${ctx.now().getTime()}`,
      to,
      subject: `Webhook disabled: ${host} (${oneLine(workspace)})`,
      text: [...text, `See its deliveries, or enable it:\n${settings}`].join('\n\n'),
      html: [...text.map((line) => paragraph(escaped(line))), paragraph(link(settings))].join('\n'),
    })
  })
  const failed = (await Promise.allSettled(sent)).filter(({ status }) => status === 'rejected').length
  if (failed > 0)
    ctx.log.warn({ endpointId: endpoint.id, failed }, 'could not notify the owners that a webhook is disabled')
}

function link(href: string): string {
  return `<a href="${escaped(href)}">See its deliveries, or enable it</a>`
}
