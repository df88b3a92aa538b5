# RepoPilot in a container, as an ordinary user. The chat listens on port 8000; the data directory is /data.
FROM python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea AS build
WORKDIR /src
COPY .ci/uv.txt .ci/uv.txt
RUN pip install --no-cache-dir --require-hashes -r .ci/uv.txt
COPY requirements.txt .
RUN uv venv /opt/repopilot \
    && uv pip install --no-cache --compile-bytecode --python /opt/repopilot/bin/python --require-hashes -r requirements.txt
COPY . .
RUN uv pip install --no-cache --no-deps --compile-bytecode --python /opt/repopilot/bin/python .

FROM python:3.12-slim@sha256:78387bc3881b8273120a12ebe6c1ab22b018ccc2c9adf565ae1ac9b536e184ea
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap git libgomp1 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 1000 repopilot \
    && install -d -o repopilot /data
COPY --from=build /opt/repopilot /opt/repopilot
USER repopilot
ENV PATH=/opt/repopilot/bin:$PATH REPOPILOT_HOME=/data REPOPILOT_HOST=0.0.0.0
VOLUME /data
EXPOSE 8000
# Any answer shows that it runs: it refuses visitors without a token.
HEALTHCHECK --start-period=60s CMD ["python", "-c", "import http.client as h; c = h.HTTPConnection('127.0.0.1', 8000, timeout=5); c.request('GET', '/'); c.getresponse()"]
ENTRYPOINT ["repopilot"]
CMD ["serve", "--headless"]
