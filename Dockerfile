# The service as a container: docker build -t millrace .
# docker run --stop-timeout 40 -p 3000:3000 -v millrace:/data millrace
# Without DATABASE_URL it brings its own Postgres, in the volume. compose.yaml has everything apart.

FROM node:24-slim AS build
WORKDIR /app
ENV NEXT_TELEMETRY_DISABLED=1
COPY package.json package-lock.json ./
COPY patches patches
RUN npm ci
COPY . .
# The build needs no secret, and none may end up in a layer. Pruning writes package-lock.json anew: unless the build is
# younger, the first start would build again, without what building needs.
RUN npm run build && npm prune --omit=dev && touch .next/BUILD_ID

FROM node:24-slim
WORKDIR /app
ENV NODE_ENV=production NEXT_TELEMETRY_DISABLED=1 HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
COPY --from=build --chown=node:node /app ./
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:3000/api/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# As npm start, without npm in between, which would not pass signals on.
CMD ["node", "--import", "tsx", "--conditions=react-server", "cli/start.ts"]
