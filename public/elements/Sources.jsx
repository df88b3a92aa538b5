import { useEffect, useState } from 'react';
import { AlertTriangle, Check, ClipboardCopy, CornerDownRight, FileCode2, ListTree, Package, RotateCcw, Shuffle, Sparkles, ThumbsDown, ThumbsUp, Workflow } from 'lucide-react';

// Chainlit evaluates this file again at every update. The component is kept in `window`, so that React sees the same
// one and what the user typed or unfolded stays. All words come from the catalogue, in `props.words`.
const Sources = (window.repopilotSources ||= function ({ props, callAction, sendUserMessage }) {
  const [failed, setFailed] = useState('');
  const { words } = props;
  const [rating, setRating] = useState(props.rating);
  const [asking, setAsking] = useState(false);
  const [remark, setRemark] = useState('');
  const [copied, setCopied] = useState(false);
  const call = async (name, payload) => {
    const result = await callAction({ name, payload: { answer: props.answer, ...payload } });
    setFailed(result?.response?.error || (result?.success ? '' : words.no_answer));
    return result?.response;
  };
  const show = (number) => call('show_citation', { number });
  const rate = async (value, why = '') => {
    const wanted = rating === value && !why ? 0 : value;
    const kept = await call('rate', { rating: wanted, remark: why });
    if (kept?.rating === wanted) setRating(wanted);
    setAsking(wanted === -1 && !why);
  };
  const copy = async () => {
    const found = await call('copy_answer', {});
    if (!found?.text) return;
    await navigator.clipboard.writeText(found.text);
    setCopied(true);
  };

  const pack = async () => {
    const file = await call('download', { form: 'pack' });
    if (file?.base64) window.repopilotSave(file);
  };
  const larger = async () => {
    await call('ask_larger', { model: props.larger });
    sendUserMessage(props.question, props.command || undefined);
  };

  // The marks in the answer's text are links to `#cite-<answer>-<number>`: this element gives them their effect.
  useEffect(() => {
    const prefix = `#cite-${props.answer}-`;
    const onClick = (event) => {
      const link = event.target.closest?.(`a[href^="${prefix}"]`);
      if (!link) return;
      event.preventDefault();
      event.stopPropagation();
      show(Number(link.getAttribute('href').slice(prefix.length)));
    };
    document.addEventListener('click', onClick, true);
    return () => document.removeEventListener('click', onClick, true);
  }, [props.answer]);

  return (
    <section className="rp-sources">
      {props.sources.length > 0 && (
        <div className="rp-row rp-tight">
          {props.sources.map((source) => (
            <button key={source.number} className={source.supported ? 'rp-source' : 'rp-source rp-doubt'} onClick={() => show(source.number)}
              title={source.supported ? source.symbol || source.place : props.words.unsupported}>
              <span className="rp-source-number">{source.number}</span>
              {source.supported ? <FileCode2 size={13} /> : <AlertTriangle size={13} />}
              <span className="rp-place">{source.place}</span>
            </button>
          ))}
        </div>
      )}
      {props.doubt && <div className="rp-warn">⚠ {props.doubt}</div>}
      {props.notes.map((note) => <div key={note} className="rp-warn">⚠ {note}</div>)}
      {failed && <div className="rp-error">{failed}</div>}
      {(props.follow_ups.length > 0 || props.diagram || props.larger) && (
        <div className="rp-row rp-tight rp-next">
          {props.follow_ups.map((question) => (
            <button key={question} className="rp-button" onClick={() => sendUserMessage(question)}><CornerDownRight size={14} /> {question}</button>
          ))}
          {props.diagram && <button className="rp-button" onClick={() => call('show_diagram', {})}><Workflow size={14} /> {words.diagram}</button>}
          {props.larger && <button className="rp-button" onClick={larger}><Sparkles size={14} /> {words.larger.replace('{model}', props.larger)}</button>}
        </div>
      )}
      {(props.retry || props.explain || props.choices.length > 0 || props.alternatives.length > 0) && (
        <div className="rp-row rp-tight">
          {props.retry && (
            <button className="rp-button" onClick={() => sendUserMessage(props.question, props.command || undefined)}><RotateCcw size={14} /> {props.words.retry}</button>
          )}
          {props.explain && (
            <button className="rp-button" onClick={() => sendUserMessage(props.explain, 'explain')}><Sparkles size={14} /> {props.words.explain}</button>
          )}
          {props.choices.map(([place, task]) => (
            <button key={place} className="rp-button" onClick={() => sendUserMessage(task, props.command || 'generate')}><FileCode2 size={14} /> {place}</button>
          ))}
          {props.alternatives.map(([label, command]) => (
            <button key={command} className="rp-button" onClick={() => sendUserMessage(props.question, command)}><Shuffle size={14} /> {label}</button>
          ))}
        </div>
      )}
      {props.footer && (
        <div className="rp-row rp-tight">
          <div className="rp-footer rp-grow">{props.footer}</div>
          <button className="rp-icon-button" aria-label={words.good} title={words.good} aria-pressed={rating === 1} onClick={() => rate(1)}><ThumbsUp size={14} /></button>
          <button className="rp-icon-button" aria-label={words.bad} title={words.bad} aria-pressed={rating === -1} onClick={() => rate(-1)}><ThumbsDown size={14} /></button>
          <button className="rp-icon-button" aria-label={words.markdown} title={words.markdown} onClick={copy}>{copied ? <Check size={14} /> : <ClipboardCopy size={14} />}</button>
          {props.pack && <button className="rp-icon-button" aria-label={words.pack} title={words.pack} onClick={pack}><Package size={14} /></button>}
          {props.steps && <button className="rp-icon-button" aria-label={words.steps} title={words.steps} onClick={() => call('show_trace', {})}><ListTree size={14} /></button>}
        </div>
      )}
      {asking && (
        <form className="rp-row rp-tight" onSubmit={(event) => { event.preventDefault(); rate(-1, remark); setAsking(false); }}>
          <input className="rp-input rp-grow" autoFocus value={remark} maxLength={2000} onChange={(event) => setRemark(event.target.value)} aria-label={words.remark} placeholder={words.remark} />
          <button className="rp-button">{words.keep}</button>
        </form>
      )}
    </section>
  );
});

export default <Sources props={props} callAction={callAction} sendUserMessage={sendUserMessage} />;
