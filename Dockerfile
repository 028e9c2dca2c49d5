# One image for both programs; the command chooses:
#   docker run IMAGE pgverdict-exporter …
#   docker run IMAGE pgverdict-evaluator run --config.file=/etc/pgverdict/evaluator.yml
FROM python:3.13-slim-bookworm AS build
WORKDIR /build
COPY requirements.lock ./
RUN python -m venv /opt/pgverdict \
    && /opt/pgverdict/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml README.md CHANGELOG.md LICENSE ./
COPY exporter exporter
COPY evaluator evaluator
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels . \
    && /opt/pgverdict/bin/pip install --no-cache-dir --no-deps /wheels/*.whl

FROM python:3.13-slim-bookworm
# The evaluator remembers there what it has judged; mount a volume to keep it.
RUN install --directory --owner=65532 --group=65532 /var/lib/pgverdict
COPY --from=build /opt/pgverdict /opt/pgverdict
ENV PATH=/opt/pgverdict/bin:$PATH
WORKDIR /var/lib/pgverdict
# A number, so that Kubernetes can tell that it is not root.
USER 65532:65532
CMD ["pgverdict-exporter"]
